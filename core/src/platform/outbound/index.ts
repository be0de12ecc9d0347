export type { TlsIdentity } from './dial.ts'

export { type NoResponse, type Response, userAgent } from './exchange.ts'
export * from './outbound.ts'
export { hostOf, type OwnHost, parseAllowList, type Resolve } from './ssrfGuard.ts'
