export { type ArchiveLabel, archiveRuntime, packRuntime } from './archive.ts'
export { packageRuntime, type RuntimeSource, runtimeOfPackage, withoutRuntime } from './runtime.ts'
export {
  DataFolderInUse,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  findEmbeddedPostgres,
  hasEmbeddedPostgres,
  startEmbeddedPostgres,
} from './start.ts'
export { WAL_ROOM_BYTES } from './walRoom.ts'
