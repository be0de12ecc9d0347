import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { createMcpServer, type McpServerOptions } from './server.ts'

/**
 * Answers the messages of one request to `/mcp`, in the revision of the protocol that the request speaks.
 *
 * @param request its body is within our limits
 */
export async function serveMessages(request: Request, options: McpServerOptions): Promise<Response> {
  if (await isLegacyRequest(request)) {
    const enableJsonResponse = !(await isStreaming(request))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse })
    await createMcpServer(options).connect(transport)
    return await transport.handleRequest(request)
  }
  // No tool or resource announces changes, so a stream for them would only stay open.
  const handler = createMcpHandler(() => createMcpServer(options), { legacy: 'reject', maxSubscriptions: 0 })
  return await handler.fetch(request)
}

/** Whether the request's only message asks for a stream of events. */
async function isStreaming(request: Request): Promise<boolean> {
  try {
    const message: unknown = await request.clone().json()
    return Object(message).method === 'events/stream'
  } catch {
    return false
  }
}
