export type { GatewayProcesses, ProcessStates, ServiceOptions, ServicePart } from './options.ts'
export { PortTaken, type RunningService, startService } from './service.ts'
