export { getWorkspace } from './find.ts'
export { lockWorkspace, updatePlan } from './queries.ts'
export { PlanKeyInput, Workspace, WorkspaceReference } from './schema.ts'
