/** The entry of the single executable that `bun run build` makes: the program with PostgreSQL and the console inside. */
import { join } from 'node:path'
import consolePack from '../../dist/console.pack' with { type: 'file' }
import postgres from '../../dist/postgres.tar.zst' with { type: 'file' }
import { type ArchiveLabel, archiveRuntime } from './embeddedPostgres/index.ts'
import { runProgram } from './program.ts'

/** Written in by `scripts/build.ts`. */
declare const CREEL_POSTGRES_LABEL: ArchiveLabel

const embedded = (path: string) => Bun.file(path.startsWith('/') ? path : join(import.meta.dir, path))
await runProgram(process.argv.slice(2), {
  runtime: archiveRuntime(CREEL_POSTGRES_LABEL, () => embedded(postgres).arrayBuffer()),
  consolePack: () => embedded(consolePack).bytes(),
})
