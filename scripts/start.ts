/** `bun run start`: installs what is missing, then serves. One process, so that signals reach the service itself. */
import { installMissing } from './install.ts'
import { whenLauncherDies } from './launchers.ts'

installMissing()
// Not before: it imports packages.
const { runProgram } = await import('../creel/src/program.ts')
await runProgram(['serve', ...process.argv.slice(2)], { runtime: undefined, stopWhen: whenLauncherDies() })
