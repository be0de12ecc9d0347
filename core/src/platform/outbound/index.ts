export { hostOf, parseAllowList } from './allowList.ts'

export type { NoResponse, Response } from './exchange.ts'
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type SendResult,
} from './outbound.ts'
export type { OwnHost } from './ownHosts.ts'
export type { Resolve } from './ssrfGuard.ts'
export type { TlsIdentity } from './tlsAgents.ts'
export { userAgent } from './userAgent.ts'
