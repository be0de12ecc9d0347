export type { Caller, Context } from './context.ts'
export {
  checkDatabase,
  type Db,
  type OpenDatabase,
  openDatabase,
  run,
  type Statement,
  statement,
  type Trx,
} from './db/index.ts'
export { DomainError, ERRORS, type ErrorCode, ITEM_CODES, notFound, validationFailed } from './errors.ts'
export { authenticate } from './keys/index.ts'
export { overridePlans, PLANS, type Plans } from './plans/index.ts'
export { applyChangedPlans } from './plans/suspension.ts'
export {
  type Locate,
  locateInBody,
  Problem,
  pointerTo,
  refusalOf,
  TracedError,
  toProblem,
} from './problem.ts'
export { type Enqueue, type Job, type Payload, QUEUES, type QueueName, type QueueSpec } from './queues.ts'
export { REFUSED, type RouteContract } from './route.ts'
export { type AppRouter, appRouter, createCaller, ROUTES, type Route } from './router.ts'
export { checkSecretKey, createSecretBox, type SecretBox } from './secrets/index.ts'
export { type Clock, type Services, systemClock, type Urls } from './services.ts'
export type { Wakeups } from './wakeups/index.ts'
