import { initTRPC } from '@trpc/server'
import type { Services } from './services.ts'

/**
 * Procedures of the operator: workspaces, keys, contacts, purge. They take no API key and are reachable in process
 * only, by the `creel` command: no gateway mounts this router.
 */
const t = initTRPC.context<Services>().create()

/** A procedure without authentication or rate limit, for operator routers only. */
export const operatorProcedure = t.procedure
/** Makes a router of operator procedures. */
export const operatorRouterOf = t.router
/** Makes one flat operator router of several; their procedures must have different names. */
export const mergeOperatorRouters = t.mergeRouters
/** Makes a function that calls the procedures of an operator router in process. */
export const createOperatorCallerFactory = t.createCallerFactory
