import type { Services } from '@creel/core'
import { internalErrors } from '@creel/core/platform/metrics'
import { logged, loggedPath } from './callLog.ts'
import { DOCS } from './docs/index.ts'
import type { FetchHandler } from './fetchHandler.ts'
import { mcpHandler } from './mcp/index.ts'
import { openApi } from './openapi/index.ts'
import { healthz, metrics, type Operations, readyz } from './operations.ts'
import { rest } from './rest.ts'
import { trpc } from './trpc.ts'

export interface AppOptions {
  /** Shown in `/openapi/v1.json`. */
  readonly version: string
  readonly operations?: Operations
  /** Whether `/metrics` is served here; true unless it has a port of its own. */
  readonly servesMetrics?: boolean
}

/**
 * Everything that is served over plain fetch semantics: the REST surface, `/trpc`, the description and health.
 * Captures are not here: they need the request as it came (see listener.ts and capture/).
 */
export function createApp(
  services: Services,
  { version, operations = { checks: {} }, servesMetrics = true }: AppOptions,
): FetchHandler {
  let description: string | undefined
  const describe = () => {
    // When it is first asked for: most starts need not wait for it.
    description ??= JSON.stringify(openApi(services.urls.baseUrl, version))
    return json(description)
  }
  const handleTrpc = trpc(services)
  const handleMcp = mcpHandler(services, { version, serve: (request) => app.handle(request) })
  const app = rest(services)
    .get('/openapi/v1.json', describe)
    .get('/healthz', healthz)
    .get('/readyz', () => readyz(operations, services.log))
    .all(
      '/trpc/*',
      ({ request }) => logged(services, 'trpc', request, (notes) => handleTrpc(request, notes)),
      { parse: 'none' },
    )
    .all('/mcp', ({ request }) => logged(services, 'mcp', request, (notes) => handleMcp(request, notes)), {
      parse: 'none',
    })
    .onError(({ code, error, request }) => {
      if (code === 'NOT_FOUND') return plainNotFound()
      internalErrors.inc()
      services.log.error({ err: error, path: loggedPath(request) }, 'unexpected error')
      return new Response('Internal Server Error', { status: 500 })
    })
  for (const [path, answer] of Object.entries(DOCS)) app.get(path, answer)
  if (servesMetrics) app.get('/metrics', () => metrics(operations, services.log))
  return (request) => app.handle(request)
}

function json(body: string): Response {
  return new Response(body, { headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' } })
}

function plainNotFound(): Response {
  return new Response('Not Found', { status: 404, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}
