import { initTRPC } from '@trpc/server'
import type { Services } from './services.ts'

/**
 * Procedures of the operator: workspaces, keys, contacts, purge. They take no API key and can be called only in
 * process, by the `creel` command: no gateway mounts this router.
 */
const t = initTRPC.context<Services>().create()

/** A procedure without authentication or rate limit, for operator routers only. */
export const operatorProcedure = t.procedure
export const operatorRouterOf = t.router
/** Merges operator routers into one flat router; their procedures must have different names. */
export const mergeOperatorRouters = t.mergeRouters
/** Creates a function that calls the procedures of an operator router in process. */
export const createOperatorCallerFactory = t.createCallerFactory
