export { ensureHashKey, findHashKey, openHashKey, SEALED_WORKSPACE_KEYS } from './hashKey.ts'
export { deleteWorkspaces, getWorkspace, insertWorkspace, lockWorkspace, updatePlan } from './queries.ts'

export { PlanKeyInput, Workspace, WorkspaceReference } from './schema.ts'
