export { createApp, type FetchHandler } from './app.ts'
export { type GatewayOptions, startGateway } from './gateway.ts'
export type { CaptureHandler, Listener } from './listener.ts'
