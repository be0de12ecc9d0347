export { PortTaken } from './listening.ts'
export type { GatewayProcesses, ProcessStates, ServiceOptions, ServicePart } from './options.ts'
export { type RunningService, startService } from './service.ts'
