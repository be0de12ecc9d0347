import { actionRoutes } from './actions/routes.ts'
import { alertChannelRoutes } from './alertChannels/routes.ts'
import { incidentRoutes } from './alerts/incidentRoutes.ts'
import { answerRoutes } from './answers/index.ts'
import type { RouteContract, StreamContract } from './api/contract.ts'
import { createCallerFactory, mergeRouters, router } from './api/route.ts'
import { auditRoutes } from './audit/routes.ts'
import { contactRoutes } from './contacts/routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { endpointEditingRoutes } from './endpointEditing/routes.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import { erasureRoutes } from './erasures/index.ts'
import { eventRoutes } from './events/routes.ts'
import { exportRoutes, transferRoutes } from './exports/routes.ts'
import { handshakeRoutes } from './handshakes/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { reconcileRoutes } from './reconcile/routes.ts'
import { recycleBinRoutes } from './recycleBin/routes.ts'
import { replayRunRoutes } from './rehearsals/index.ts'
import { listenReportRoutes } from './replay/listenReport.ts'
import { replayRoutes } from './replay/routes.ts'
import { conditionRoutes } from './requests/conditionRoutes.ts'
import { requestRoutes } from './requests/routes.ts'
import { verificationRoutes } from './requests/verificationRoutes.ts'
import { usageRoutes } from './retention/usageRoutes.ts'
import { sampleRoutes } from './samples/routes.ts'
import { sealingRoutes } from './sealing/index.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { shareLinkRoutes } from './shareLinks/index.ts'
import { storeRuleRoutes } from './storeRules/index.ts'
import { subscriptionRoutes } from './subscriptions/routes.ts'
import { allTrafficRoutes, trafficRoutes } from './traffic/routes.ts'
import { transformationRoutes } from './transformations/routes.ts'
import { watchdogRoutes } from './watchdogs/routes.ts'
import { meRoutes } from './workspaces/routes.ts'

/** All procedures of the API, by noun. */
export const appRouter = router({
  me: meRoutes,
  endpoints: mergeRouters(
    endpointRoutes,
    endpointEditingRoutes,
    answerRoutes,
    storeRuleRoutes,
    sealingRoutes,
    trafficRoutes,
  ),
  actions: actionRoutes,
  providers: providerRoutes,
  requests: mergeRouters(requestRoutes, replayRoutes, handshakeRoutes, exportRoutes),
  deliveries: mergeRouters(deliveryRoutes, listenReportRoutes),
  shareLinks: shareLinkRoutes,
  samples: sampleRoutes,
  reconcile: reconcileRoutes,
  replays: replayRunRoutes,
  events: eventRoutes,
  subscriptions: subscriptionRoutes,
  alertChannels: alertChannelRoutes,
  recycleBin: recycleBinRoutes,
  transformations: transformationRoutes,
  watchdogs: watchdogRoutes,
  erasures: erasureRoutes,
  keys: keyRoutes,
  audit: auditRoutes,
  contacts: contactRoutes,
  sessions: sessionRoutes,
  incidents: incidentRoutes,
  conditions: conditionRoutes,
  verification: verificationRoutes,
  workspace: mergeRouters(usageRoutes, allTrafficRoutes, overviewRoutes),
})

/** Type for typed clients of the API. */
export type AppRouter = typeof appRouter

/** Operations of the REST API with bodies that tRPC cannot carry. */
const transferRouter = router({ requests: transferRoutes })

/** Calls procedures in process, without HTTP. */
export const createCaller = createCallerFactory(appRouter)

/** Calls the operations that `/trpc` does not have. */
export const createTransferCaller = createCallerFactory(transferRouter)

/** A declared REST operation: `name` is the tRPC path (`endpoints.list`). */
export interface Route extends RouteContract {
  readonly name: string
  /** Whether only REST has it. */
  readonly restOnly: boolean
}

/** A declared stream; `name` is its tRPC path. */
export interface Stream extends StreamContract {
  readonly name: string
}

/** Every REST operation of the routers, without streams, in their order. */
export const ROUTES: readonly Route[] = [...routesOf(appRouter, false), ...routesOf(transferRouter, true)]

export const STREAMS: readonly Stream[] = declaredIn(appRouter).flatMap(({ name, stream }) =>
  stream === undefined ? [] : [{ name, ...stream }],
)

function routesOf(router: AnyRouter, restOnly: boolean): Route[] {
  return declaredIn(router).flatMap(({ name, contract }) =>
    contract === undefined ? [] : [{ name, restOnly, ...contract }],
  )
}

interface AnyRouter {
  readonly _def: { readonly procedures: object }
}

function declaredIn({ _def }: AnyRouter) {
  return Object.entries(
    // tRPC holds procedures flat ("a.b") at run time but types them nested.
    _def.procedures as unknown as Record<
      string,
      { _def: { meta?: { contract?: RouteContract; stream?: StreamContract } } }
    >,
  ).map(([name, procedure]) => ({ name, ...procedure._def.meta }))
}
