import {
  createOperatorCallerFactory,
  mergeOperatorRouters,
  operatorRouterOf,
} from '../api/operatorProcedure.ts'
import { contactOperatorRoutes } from '../contacts/operatorRoutes.ts'
import { keyOperatorRoutes } from '../keys/operatorRoutes.ts'
import { planLimitOperatorRoutes } from '../planLimits/operatorRoutes.ts'
import { retentionOperatorRoutes } from '../retention/operatorRoutes.ts'
import { sessionOperatorRoutes } from '../sessions/operatorRoutes.ts'
import { workspaceOperatorRoutes } from '../workspaces/operatorRoutes.ts'
import { auditOperatorRoutes } from './auditRoutes.ts'
import { secretOperatorRoutes } from './secretRoutes.ts'

/** All operator procedures, by noun. */
export const operatorRouter = operatorRouterOf({
  audit: auditOperatorRoutes,
  secrets: secretOperatorRoutes,
  workspaces: mergeOperatorRouters(workspaceOperatorRoutes, planLimitOperatorRoutes),
  keys: keyOperatorRoutes,
  contacts: contactOperatorRoutes,
  retention: retentionOperatorRoutes,
  sessions: sessionOperatorRoutes,
})

/** Calls operator procedures in process; its context is the process's services. */
export const createOperatorCaller = createOperatorCallerFactory(operatorRouter)
