import { actionRoutes } from './actions/routes.ts'
import { alertChannelRoutes } from './alertChannels/routes.ts'
import { createCallerFactory, mergeRouters, type RouteContract, router } from './api/route.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { endpointEditingRoutes } from './endpointEditing/routes.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import { exportRoutes, transferRoutes } from './exports/routes.ts'
import { meRoutes } from './me/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { recycleBinRoutes } from './recycleBin/routes.ts'
import { replayRoutes } from './replay/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import { transformationRoutes } from './transformations/routes.ts'
import { watchdogRoutes } from './watchdogs/routes.ts'

/** The table of contents of the API: one line a noun. */
export const appRouter = router({
  me: meRoutes,
  endpoints: mergeRouters(endpointRoutes, endpointEditingRoutes),
  actions: actionRoutes,
  providers: providerRoutes,
  requests: mergeRouters(requestRoutes, replayRoutes, exportRoutes),
  deliveries: deliveryRoutes,
  alertChannels: alertChannelRoutes,
  recycleBin: recycleBinRoutes,
  transformations: transformationRoutes,
  watchdogs: watchdogRoutes,
})

export type AppRouter = typeof appRouter

/** Operations of the REST API whose bodies no tRPC call can carry. */
const transferRouter = router({ requests: transferRoutes })

/** Calls procedures in process, without HTTP. */
export const createCaller = createCallerFactory(appRouter)

/** Calls the operations that `/trpc` lacks. */
export const createTransferCaller = createCallerFactory(transferRouter)

/** A declared REST operation: `name` is the tRPC path (`endpoints.list`). */
export interface Route extends RouteContract {
  readonly name: string
  /** Only REST has it. */
  readonly restOnly: boolean
}

/** Every REST operation of the routers, in their order. */
export const ROUTES: readonly Route[] = [...routesOf(appRouter, false), ...routesOf(transferRouter, true)]

function routesOf({ _def }: { readonly _def: { readonly procedures: object } }, restOnly: boolean): Route[] {
  return Object.entries(
    // tRPC holds procedures flat ("a.b") at run time but types them nested.
    _def.procedures as unknown as Record<string, { _def: { meta?: { contract: RouteContract } } }>,
  ).flatMap(([name, procedure]) =>
    procedure._def.meta === undefined ? [] : [{ name, restOnly, ...procedure._def.meta.contract }],
  )
}
