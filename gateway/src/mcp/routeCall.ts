import { ROUTES, type Route } from '@creel/core'

/** Input of a route by the names of its members; members that are undefined are left out. */
export type RouteInput = Readonly<Record<string, unknown>>

const BY_NAME = new Map(ROUTES.map((route) => [route.name, route]))

/**
 * Finds a declared route by its dotted name, like `requests.list`.
 *
 * @throws Error when there is none
 */
export function routeNamed(name: string): Route {
  const route = BY_NAME.get(name)
  if (route === undefined) throw new Error(`No route is called ${name}.`)
  return route
}

/** Method, path and JSON body of a call, if it has one. */
export interface RouteCall {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body: unknown
}

/** A call of a route over REST: each member of the input goes where the route's declaration puts it. */
export function routeCall(route: Route, input: RouteInput): RouteCall {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(input[name])),
  )
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const search = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || route.path.includes(`{${name}}`)) continue
    if (hasBody && route.query?.includes(name) !== true) body[name] = value
    else search.set(name, String(value))
  }
  return {
    method: route.method,
    path: search.size === 0 ? path : `${path}?${search}`,
    body: hasBody ? (route.body === undefined ? body : body[route.body]) : undefined,
  }
}
