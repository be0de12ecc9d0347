export { findEmbeddedPostgres, packageRuntime, startEmbeddedPostgres } from './embeddedPostgres/index.ts'
export { type RunningService, type ServiceOptions, type ServicePart, startService } from './service/index.ts'
