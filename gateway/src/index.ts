export { warmUp } from './capture/warmUp.ts'
export { type Gateway, type GatewayOptions, startGateway, startOperationsListener } from './gateway.ts'
export { type HttpLimits, waitingAnswersMax } from './http/httpLimits.ts'
export type { Listener } from './listener.ts'
export { gatewayRestarts } from './metrics.ts'
export { openApi } from './openapi/index.ts'
export { type Operations, readFigures, runChecks } from './operations.ts'
export {
  type CountReport,
  CountsHub,
  type CountTotal,
  createCountsMember,
  type SharedCounts,
} from './sharedCounts/index.ts'
