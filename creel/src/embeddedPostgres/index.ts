export { packageRuntime, type RuntimeSource } from './runtime.ts'
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  findEmbeddedPostgres,
  startEmbeddedPostgres,
} from './start.ts'
