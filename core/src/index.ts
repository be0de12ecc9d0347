export { scopeOf } from './api/access.ts'
export { RELAYED } from './api/checks.ts'
export { type Caller, type Context, contextOf } from './api/context.ts'
export {
  Download,
  DownloadStream,
  type RouteContract,
  type StreamContract,
  type ToolEffect,
} from './api/contract.ts'
export { DomainError, ERRORS, type ErrorCode, validationFailed } from './api/errors.ts'
export { gathering } from './api/gathering.ts'
export { issuesOf, widthIssues } from './api/issues.ts'
export {
  type Locate,
  locateInBody,
  Problem,
  pointerTo,
  refusalOf,
  toProblem,
  traceIds,
} from './api/problem.ts'
export { CODES_OF_TRPC, STREAM_PING_MS } from './api/route.ts'
export { type Clock, type Services, systemClock, type Urls } from './api/services.ts'
export { REFUSED } from './api/values.ts'
export {
  QUEUE_WORK,
  QUEUES,
  type QueueWork,
  queueWorkOf,
  type RunningSends,
  readSendLoad,
  startLoops,
  startSends,
} from './background.ts'
export { isPlainObject } from './engine/json/index.ts'
export { KEY_SCOPES, type KeyScope } from './engine/words/index.ts'
export { authenticate, knownKeys, type Presented } from './keys/index.ts'
export { applyChangedPlans, hasChangedPlans } from './planLimits/index.ts'
export { overridePlans, PLANS, type Plans } from './plans/index.ts'
export {
  checkDatabase,
  type Db,
  type OpenDatabase,
  openDatabase,
  type ReplicaState,
  readsOf,
  readsWithReplica,
  run,
  type Statement,
  statement,
  type Trx,
} from './platform/db/index.ts'
export type { Enqueue, Job, Queue } from './platform/queues.ts'
export { checkSecretKey, createSecretBox, hasSealedSecrets, openingRows } from './platform/secrets/index.ts'
export {
  type AppRouter,
  appRouter,
  createCaller,
  createTransferCaller,
  ROUTES,
  type Route,
  STREAMS,
  type Stream,
} from './router.ts'
export {
  authenticateSession,
  type Credential,
  endSessionOfToken,
  knownLinks,
  knownSessions,
  SESSION_DAYS,
  startSession,
} from './sessions/index.ts'
export { knownShareLinks, openShareLink, type SharedLink } from './shareLinks/index.ts'
