import { authenticate, type Caller, type Services } from '@creel/core'
import type { CallNotes } from '../callLog.ts'
import { noteAddress, presentedBy, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { mcpApi } from './mcpApi.ts'

/**
 * `/mcp`: the tools over streamable HTTP, without sessions, for the key of each message. A message counts as a call, and so does
 * every call of the API that its tool makes. `?readOnly=true` leaves out the tools that change or send something, as a key
 * that may only read does.
 *
 * @param serve answers calls of the API, in process
 */
export function mcpHandler(
  services: Services,
  { version, serve }: { readonly version: string; readonly serve: (request: Request) => Promise<Response> },
): (request: Request, notes: CallNotes) => Promise<Response> {
  return async (request, notes) => {
    const presented = presentedBy(request)
    let caller: Caller
    try {
      caller = await authenticate(services, presented)
      notes.caller = caller
    } catch (error) {
      return problemResponse(services, error, { traceId: traceIdOf(request) })
    }
    // The protocol's code is read by the first message, not at start.
    const [{ WebStandardStreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
      import('./server.ts'),
    ])
    const api = mcpApi((path, init) => {
      const headers = { ...init.headers, Authorization: `Bearer ${presented.key}` }
      const call = new Request(`http://localhost${path}`, { ...init, headers, signal: request.signal })
      noteAddress(call, presented.address)
      return serve(call)
    })
    const readOnly = caller.scope === 'read' || new URL(request.url).searchParams.get('readOnly') === 'true'
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    const server = createMcpServer({ api, version, readOnly })
    await server.connect(transport)
    return await transport.handleRequest(request)
  }
}
