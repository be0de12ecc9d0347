export { findEmbeddedPostgres, packageRuntime, startEmbeddedPostgres } from './embeddedPostgres/index.ts'
export { createProgram } from './program.ts'
export { type RunningService, type ServiceOptions, type ServicePart, startService } from './service/index.ts'
