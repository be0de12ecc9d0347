/** `bun run start`: installs what is missing, then serves. One process, so that signals reach the service itself. */
import { join } from 'node:path'
import { bundledProgram } from './bundle.ts'
import { installMissing } from './install.ts'
import { whenLauncherDies } from './launchers.ts'

installMissing()
const program = bundledProgram(join(import.meta.dir, '..'))
const { runProgram }: typeof import('../creel/src/program.ts') = await import(program)
await runProgram(['serve', ...process.argv.slice(2)], { runtime: undefined, stopWhen: whenLauncherDies() })
