import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
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
  const api = mcpApi(send)
  const handle = serveStdio(() => createMcpServer({ ...options, api }))
  await once(process.stdin, 'end')
  await handle.close()
}
