export { type AppOptions, createApp } from './app.ts'
export { warmUp } from './capture/warmUp.ts'
export type { FetchHandler } from './fetchHandler.ts'
export { type Gateway, type GatewayOptions, startGateway, startOperationsListener } from './gateway.ts'
export { type HttpLimits, waitingAnswersMax } from './http/httpLimits.ts'
export type { Listener } from './listener.ts'
export { gatewayRestarts } from './metrics.ts'
export { openApi } from './openapi/index.ts'
export { type Operations, readFigures, runChecks } from './operations.ts'
export {
  ALONE,
  type CountReport,
  CountsHub,
  type CountTotal,
  createCountsMember,
  type SharedCounts,
} from './sharedCounts/index.ts'
