import { timingSafeEqual } from 'node:crypto'
import { DomainError, type Services } from '@creel/core'
import { OWN_ANSWER_HEADERS } from '@creel/core/endpoints'
import { sha256Of } from '@creel/core/platform/secrets'
import type { AnyElysia } from 'elysia'
import type { ElysiaAdapter } from 'elysia/adapter'
import ipaddr from 'ipaddr.js'
import { logged, loggedPath } from './callLog.ts'
import { answerSession, consoleFiles } from './console/index.ts'
import { DOCS, pageRoutes } from './docs/index.ts'
import type { RequestHandler } from './http/exchange.ts'
import { answerOfKept } from './http/longAnswer.ts'
import { isOfApi } from './http/ownAnswers.ts'
import { wireRoute } from './http/wireRoute.ts'
import { mcpHandler } from './mcp/index.ts'
import { internalErrors } from './metrics.ts'
import { addOAuth, mcpChallenge } from './oauth/index.ts'
import { openApi } from './openapi/index.ts'
import { healthz, metrics, type Operations, readyz } from './operations.ts'
import { relayRoutes } from './relayRoutes.ts'
import { addressOf, presentedKey, traceIdOf } from './requestIdentity.ts'
import { problemResponse, rest } from './rest.ts'
import { answerShare, SHARE_PATH } from './sharePage.ts'
import { trpc } from './trpc.ts'

/** Headers by which proxies tell of the request that they pass on; lower case. */
const FORWARDING = /^(?:forwarded|x-forwarded-.*|x-real-ip|via)$/

/**
 * Whether a request may read `/metrics` on the port of the API: with the token, or from this machine without a proxy in
 * between, whatever other key it presents.
 *
 * @param token undefined: no token is accepted
 */
function mayReadMetrics(request: Request, token: string | undefined): boolean {
  const presented = presentedKey(request)
  if (token !== undefined && presented !== null && timingSafeEqual(sha256Of(presented), sha256Of(token)))
    return true
  const address = addressOf(request)
  if (address === null || !ipaddr.isValid(address)) return false
  const isLocal = ipaddr.process(address).range() === 'loopback'
  return isLocal && ![...request.headers.keys()].some((name) => FORWARDING.test(name))
}

/** Options of the app. Only `version` is required; without `operations`, `/readyz` checks nothing. */
export interface AppOptions {
  /** Shown in `/openapi/v1.json`. */
  readonly version: string
  readonly operations?: Operations | undefined
  /** Answers the calls that agents' messages make; the app itself by default. */
  readonly serve?: (request: Request) => Promise<Response>
  /** Whether `/metrics` is served here; true unless it has a port of its own. */
  readonly servesMetrics?: boolean | undefined
  /** Token with which other machines read `/metrics` here; none by default. */
  readonly metricsToken?: string | undefined
  /** Whether browsers can sign in; true by default. */
  readonly hasConsole?: boolean | undefined
  /** Whether agents can sign in by OAuth, which needs the console; true by default. */
  readonly hasOAuth?: boolean | undefined
  /** Whether strangers get endpoints; false by default. */
  readonly isRelay?: boolean | undefined
  /** The console's files, as `scripts/console/pack.ts` packs them; without them only its API is here. */
  readonly consolePack?: Uint8Array<ArrayBuffer> | undefined
  /** Takes captures. Without it, `/hook/…` does not exist. */
  readonly capture?: RequestHandler
  /** Serves the app on the network; without it the app answers `handle` only. */
  readonly adapter?: ElysiaAdapter
}

/** Paths of capture URLs. */
const CAPTURE_PATH = '/hook/*'

/**
 * Builds the gateway's app: captures, the REST surface, `/trpc`, `/mcp`, the API description, health and the console.
 * On {@link wireAdapter} captures are read from the wire as they arrive. `app.handle` serves captures too, limited to
 * what a `Request` can carry.
 */
export function createApp(services: Services, options: AppOptions): AnyElysia {
  const { version, operations = { checks: {} }, servesMetrics = true, hasConsole = true } = options
  const hasOAuth = hasConsole && (options.hasOAuth ?? true)
  let description: Uint8Array<ArrayBuffer> | undefined
  const describe = () => {
    // Built on first use, because most starts never need it.
    description ??= new TextEncoder().encode(JSON.stringify(openApi(services.urls.baseUrl, version)))
    return answerOfKept(description, { headers: DESCRIPTION_HEADERS })
  }
  const handleTrpc = trpc(services, { hasConsole })
  const handleMcp = mcpHandler(services, {
    version,
    serve: options.serve ?? ((request) => app.handle(request)),
    challenge: hasOAuth ? mcpChallenge(services.urls) : 'Bearer',
  })
  const app = rest(services, options.adapter)
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
      const path = loggedPath(request)
      if (code === 'NOT_FOUND') {
        // A caller who may not read the metrics does not learn that they are here.
        const isHidden = isAt('/metrics', path) && !mayReadMetrics(request, options.metricsToken)
        const refusal = isHidden ? undefined : methodRefusal(path, traceIdOf(request))
        return refusal ?? notFound()
      }
      if (isOfApi(path)) return problemResponse(services, error, { traceId: traceIdOf(request) })
      internalErrors.inc()
      services.log.error({ err: error, path }, 'unexpected error')
      return plain(500, 'Internal Server Error')
    })
  // Below /api/ another method is an unknown route, which `rest` answers.
  const methodRefusal = (path: string, traceId: string): Response | undefined => {
    const methods = app.routes
      .filter((known) => isAt(known.path, path))
      .flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method]))
    if (methods.length === 0) return undefined
    const refusal = new DomainError('method_not_allowed', `${path} takes ${methods.join(', ')} only.`)
    const answer = problemResponse(services, refusal, { traceId })
    answer.headers.set('Allow', methods.join(', '))
    for (const [name, value] of OWN_ANSWER_HEADERS) answer.headers.set(name, value)
    return answer
  }
  app.get(SHARE_PATH, ({ request }) => answerShare(services, request))
  const pages = { ...DOCS, ...pageRoutes(services.urls.baseUrl) }
  for (const [path, answer] of Object.entries(pages)) app.get(path, answer)
  if (options.isRelay === true) {
    const relay = relayRoutes(services)
    app.get('/', relay.terms)
    app.post('/relay/endpoints', ({ request }) => relay.create(request), { parse: 'none' })
  }
  if (hasConsole) {
    app.all('/console/session', ({ request }) => answerSession(services, request), { parse: 'none' })
    for (const [path, serve] of Object.entries(consoleFiles(options.consolePack))) {
      app.get(path, ({ request }) => serve(request))
    }
  }
  if (hasOAuth) addOAuth(app, services)
  if (servesMetrics) {
    app.get('/metrics', ({ request }) =>
      mayReadMetrics(request, options.metricsToken) ? metrics(operations, services.log) : notFound(),
    )
  }
  if (options.capture !== undefined) app.all(CAPTURE_PATH, wireRoute(options.capture), { parse: 'none' })
  return app
}

/** Whether a route, which may have parameters, is the one of a path, with a slash at its end or without. */
function isAt(route: string, path: string): boolean {
  const parts = path.replace(/(?<=.)\/$/, '').split('/')
  const known = route.replace(/(?<=.)\/$/, '').split('/')
  return known.length === parts.length && known.every((part, at) => part[0] === ':' || part === parts[at])
}

const DESCRIPTION_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }

/** The answer of a path that is not known. */
export const notFound = () => plain(404, 'Not Found')

function plain(status: 404 | 500, text: string): Response {
  const headers = new Headers({ 'Content-Type': 'text/plain; charset=utf-8' })
  for (const [name, value] of OWN_ANSWER_HEADERS) headers.set(name, value)
  return new Response(text, { status, headers })
}
