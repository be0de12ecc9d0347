export { type AppOptions, createApp, type FetchHandler } from './app.ts'
export { type GatewayOptions, startGateway, startOperationsListener } from './gateway.ts'
export type { CaptureHandler, Listener } from './listener.ts'
export type { Operations } from './operations.ts'
