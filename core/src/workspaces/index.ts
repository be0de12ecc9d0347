export { getWorkspace } from './find.ts'
export { deleteWorkspaces, insertWorkspace, lockWorkspace, updatePlan } from './queries.ts'
export { PlanKeyInput, Workspace, WorkspaceReference } from './schema.ts'
