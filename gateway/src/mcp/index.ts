export { mcpHandler } from './http.ts'
export { mcpApi } from './mcpApi.ts'
