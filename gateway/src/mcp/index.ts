export { mcpHandler } from './http.ts'
export { MASKED } from './masked.ts'
