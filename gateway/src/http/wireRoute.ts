import type { RequestHandler } from './exchange.ts'
import { answerRequest } from './requestExchange.ts'

/** An Elysia handler that our listener calls on the bare request, without a `Request` or a `Response`. */
export interface WireRoute {
  (context: { readonly request: Request }): Promise<Response>
  readonly onWire: RequestHandler
}

/** Makes a route's handler of one that serves requests as they arrive. */
export function wireRoute(onWire: RequestHandler): WireRoute {
  return Object.assign(({ request }: { readonly request: Request }) => answerRequest(onWire, request), {
    onWire,
  })
}

/** Whether a handler of an app is one of {@link wireRoute}. */
export function isWireRoute(handler: unknown): handler is WireRoute {
  return typeof handler === 'function' && 'onWire' in handler
}
