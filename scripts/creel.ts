/**
 * `bun run creel`: installs missing packages, then runs the command line from the checkout's sources, with the
 * console's files for commands that serve them.
 */
import { join } from 'node:path'
import { packedConsole } from './console/packed.ts'
import { installMissing } from './install.ts'
import { checkoutCommand, whenLauncherDies } from './launchers.ts'

installMissing()
// Not before: it imports packages.
const { runProgram } = await import('../creel/src/program.ts')
await runProgram(process.argv.slice(2), {
  runtime: undefined,
  serveWords: [process.execPath, ...process.execArgv, Bun.main, 'serve'],
  command: checkoutCommand(),
  stopWhen: whenLauncherDies(),
  consolePack: async () => {
    const file = await packedConsole(join(import.meta.dir, '..'))
    return file === undefined ? undefined : await Bun.file(file).bytes()
  },
})
