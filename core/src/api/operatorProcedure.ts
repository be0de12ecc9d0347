import { initTRPC } from '@trpc/server'
import type { Services } from './services.ts'

/**
 * Procedures of the operator: workspaces, keys, contacts, purge. They take no API key and are reachable in process
 * only, by the `creel` command: no gateway mounts this router.
 */
const t = initTRPC.context<Services>().create()

export const operatorProcedure = t.procedure
export const operatorRouterOf = t.router
export const mergeOperatorRouters = t.mergeRouters
export const createOperatorCallerFactory = t.createCallerFactory
