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

export { PlanKeyInput, PlanLimits, Workspace, WorkspaceReference } from './schema.ts'
