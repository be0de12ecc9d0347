export { getWorkspace } from './find.ts'
export { lockWorkspace } from './queries.ts'
export { WorkspaceReference } from './schema.ts'
