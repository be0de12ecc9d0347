import type { AnyElysia } from 'elysia'
import type { ElysiaAdapter } from 'elysia/adapter'
import { WebStandardAdapter } from 'elysia/adapter/web-standard'
import { notFound } from './app.ts'
import type { FetchHandler } from './http/fetchAnswer.ts'
import { isWireRoute, type WireRoute } from './http/wireRoute.ts'
import { type Listener, type ListenerOptions, listen } from './listener.ts'
import { noteAddress } from './requestIdentity.ts'

/** Settings of the listener that Elysia has no option for. */
export interface WireAdapterOptions extends Omit<ListenerOptions, 'host' | 'port' | 'direct' | 'fetch'> {
  /** Wraps the app's own handler for requests from the network; none by default. */
  readonly around?: (fetch: FetchHandler) => FetchHandler
}

/** Grace of `app.stop()` for requests in flight. */
const STOP_GRACE_MS = 10_000

/**
 * Elysia on our listener. Servers with fetch semantics join, sort and lower headers, fold dot segments and drop the
 * bodies of GETs. So `app.listen` opens a listener that serves wire routes directly as the request arrives, and turns
 * all other requests into a `Request` for the app. `app.handle` serves both kinds, limited to what a `Request` can
 * carry.
 *
 * @returns an adapter for one app, and the listener that the app's `listen` opens: a promise that rejects when the port
 *   cannot be opened, and never settles unless the app listens.
 */
export function wireAdapter({ around = (fetch) => fetch, ...options }: WireAdapterOptions) {
  const opened = Promise.withResolvers<Listener>()
  const adapter: ElysiaAdapter = {
    ...WebStandardAdapter,
    name: 'creel',
    listen: (app) => (address) => {
      const { hostname, port } = addressOf(address)
      const direct = app.routes.flatMap(({ path, handler }) =>
        isWireRoute(handler) ? [directRoute(path, handler)] : [],
      )
      const fetch: FetchHandler = (request, client) => {
        noteAddress(request, client?.address ?? null)
        // `URL` resolves dot segments: `/x/../hook/a` would become a capture URL. As it was sent, it is none.
        const { pathname } = new URL(request.url)
        if (direct.some(({ prefix }) => pathname.startsWith(prefix))) return Promise.resolve(notFound())
        return app.handle(request)
      }
      listen({ ...options, host: hostname, port, direct, fetch: around(fetch) }).then(
        opened.resolve,
        opened.reject,
      )
    },
    async stop(_app: AnyElysia, closesActive = false) {
      const listener = await opened.promise
      await listener.close(closesActive ? 0 : STOP_GRACE_MS)
    },
  }
  return { adapter, listener: opened.promise }
}

function addressOf(address: Parameters<ReturnType<ElysiaAdapter['listen']>>[0]) {
  if (typeof address !== 'object') return { hostname: '0.0.0.0', port: Number(address) }
  return { hostname: address.hostname ?? '0.0.0.0', port: Number(address.port ?? 0) }
}

/** @throws Error unless the path is a prefix and `*`, the only pattern that the listener matches */
function directRoute(path: string, { onWire }: WireRoute) {
  if (!/^\/[^:*]*\/\*$/.test(path))
    throw new Error(`A wire route needs a path such as /prefix/*, not ${path}.`)
  return { prefix: path.slice(0, -1), handle: onWire }
}
