import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { mcpApi } from './mcpApi.ts'
import { createMcpServer, type McpServerOptions } from './server.ts'

/**
 * Serves the tools on standard input and output until the client closes them. Do not write anything else to standard
 * output.
 *
 * @param send calls the API: gets a path with its query, and adds address and key
 */
export async function serveMcpOnStdio(
  send: (path: string, init: RequestInit) => Promise<Response>,
  options: Omit<McpServerOptions, 'api'>,
): Promise<void> {
  const server = createMcpServer({ ...options, api: mcpApi(send) })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  server.server.onclose = resolve
  // The SDK's transport does not notice when its client has gone.
  process.stdin.once('end', () => void server.close())
  await server.connect(new StdioServerTransport())
  await closed
}
