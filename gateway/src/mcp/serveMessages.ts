import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ReaderPace } from './readerPace.ts'
import { createMcpServer, type McpServerOptions } from './server.ts'

/**
 * Answers the messages of one request to `/mcp`, in the revision of the protocol that the request speaks.
 *
 * @param request its body is within our limits
 */
export async function serveMessages(request: Request, options: McpServerOptions): Promise<Response> {
  const { method, id } = await messageOf(request)
  // Other answers end by themselves, and keep their length.
  const pace = method === 'events/stream' ? new ReaderPace() : undefined
  const createServer = () => createMcpServer({ ...options, asked: pace?.asked })
  const paced = (answer: Response) => pace?.watch(answer) ?? answer
  if (await isLegacyRequest(request)) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: pace === undefined })
    await createServer().connect(transport)
    return paced(await transport.handleRequest(request))
  }
  // No list announces changes, so a stream for them would only stay open. The handler has no such stream to leave out.
  if (method === 'subscriptions/listen' && id !== undefined) {
    const error = { code: METHOD_NOT_FOUND, message: 'Method not found: the lists do not change.' }
    return Response.json({ jsonrpc: '2.0', error, id }, { status: 404 })
  }
  const handler = createMcpHandler(createServer, { legacy: 'reject' })
  return paced(await handler.fetch(request))
}

/** The code of JSON-RPC. */
const METHOD_NOT_FOUND = -32601

const Message = z.looseObject({
  method: z.string().optional(),
  id: z.union([z.string(), z.number()]).optional(),
})

/** Method and id of the request's only message; nothing of a batch, or of text that is no message. */
async function messageOf(request: Request): Promise<z.output<typeof Message>> {
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined)
  return Message.safeParse(body).data ?? {}
}
