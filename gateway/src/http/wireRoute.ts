import type { RequestHandler } from './exchange.ts'
import { answerRequest } from './requestExchange.ts'

/** An Elysia handler that our listener calls directly, without a `Request` or a `Response`. */
export interface WireRoute {
  (context: { readonly request: Request }): Promise<Response>
  readonly onWire: RequestHandler
}

/** Turns a handler of wire requests into the handler of an Elysia route. */
export function wireRoute(onWire: RequestHandler): WireRoute {
  return Object.assign(({ request }: { readonly request: Request }) => answerRequest(onWire, request), {
    onWire,
  })
}

/** Whether a handler of an app was made by {@link wireRoute}. */
export function isWireRoute(handler: unknown): handler is WireRoute {
  return typeof handler === 'function' && 'onWire' in handler
}
