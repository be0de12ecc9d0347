export { mcpHandler } from './http.ts'
