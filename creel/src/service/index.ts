export type { ServiceOptions, ServicePart } from './options.ts'
export { hostInUrl } from './publicUrls.ts'
export { type RunningService, startService } from './service.ts'
