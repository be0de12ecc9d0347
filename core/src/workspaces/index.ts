export {
  deleteWorkspaces,
  ensureHashKey,
  findHashKey,
  getWorkspace,
  insertWorkspace,
  lockWorkspace,
  openHashKey,
  SEALED_WORKSPACE_KEYS,
  updatePlan,
} from './queries.ts'

export { PlanKeyInput, Workspace, WorkspaceReference } from './schema.ts'
