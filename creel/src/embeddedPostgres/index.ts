export { type ArchiveLabel, archiveRuntime, packRuntime } from './archive.ts'
export { packageRuntime, type RuntimeSource, runtimeOfPackage, withoutRuntime } from './runtime.ts'
export * from './start.ts'
export { WAL_ROOM_BYTES } from './walRoom.ts'
