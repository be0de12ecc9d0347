export type { TlsIdentity } from './dial.ts'

export { type Response, userAgent } from './exchange.ts'
export * from './outbound.ts'
export { hostOf, type OwnHost, parseAllowList } from './ssrfGuard.ts'
