export type { TlsIdentity } from './dial.ts'

export { type NoResponse, type Response, userAgent } from './exchange.ts'
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type SendResult,
} from './outbound.ts'
export { hostOf, type OwnHost, parseAllowList, type Resolve } from './ssrfGuard.ts'
