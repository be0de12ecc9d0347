import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer, type McpServerOptions } from './server.ts'

/**
 * Serves the tools on standard input and output until the client closes them. Do not write anything else to standard
 * output.
 */
export async function serveMcpOnStdio(options: McpServerOptions): Promise<void> {
  const handle = serveStdio(() => createMcpServer(options))
  await once(process.stdin, 'end')
  await handle.close()
}
