/** The entry of the single executable that `bun run build` makes: the program with PostgreSQL inside. */
import { join } from 'node:path'
import postgres from '../../dist/postgres.tar.zst' with { type: 'file' }
import { type ArchiveLabel, archiveRuntime } from './embeddedPostgres/index.ts'
import { runProgram } from './program.ts'

/** Written in by `scripts/build.ts`. */
declare const CREEL_POSTGRES_LABEL: ArchiveLabel

const archive = postgres.startsWith('/') ? postgres : join(import.meta.dir, postgres)
await runProgram(process.argv.slice(2), {
  runtime: archiveRuntime(CREEL_POSTGRES_LABEL, () => Bun.file(archive).arrayBuffer()),
})
