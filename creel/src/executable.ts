/** Entry of the single executable of `bun run build`: the program with PostgreSQL and the console inside. */
import { join } from 'node:path'
import consolePack from '../../dist/console.pack' with { type: 'file' }
import postgres from '../../dist/postgres.tar.zst' with { type: 'file' }
import { type ArchiveLabel, archiveRuntime, withoutRuntime } from './embeddedPostgres/index.ts'
import { runProgram } from './program.ts'
import { shellWord } from './readyBlock.ts'
import { runWithServingEnvironment } from './servingEnvironment.ts'

/** Inserted by `scripts/build.ts`; null for an executable without PostgreSQL. */
declare const CREEL_POSTGRES_LABEL: ArchiveLabel | null

const words = process.argv.slice(2)
if (words[0] === 'serve') runWithServingEnvironment([process.execPath, ...words])

const embedded = (path: string) => Bun.file(path.startsWith('/') ? path : join(import.meta.dir, path))
await runProgram(words, {
  runtime:
    CREEL_POSTGRES_LABEL === null
      ? withoutRuntime
      : archiveRuntime(CREEL_POSTGRES_LABEL, () => embedded(postgres).arrayBuffer()),
  serveWords: [process.execPath, 'serve'],
  command: typedCommand(),
  consolePack: () => embedded(consolePack).bytes(),
})

/** npx, which finds the package's command, says so; else a path, where no `creel` is on the PATH. */
function typedCommand(): string {
  if (process.env.npm_command === 'exec') return 'npx creel'
  return Bun.which('creel') === null ? shellWord(process.execPath) : 'creel'
}
