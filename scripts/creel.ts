/**
 * `bun run creel`: the command line from the checkout's sources, with the console's files for commands that serve them.
 */
import { join } from 'node:path'
import { runProgram } from '../creel/src/program.ts'
import { packedConsole } from './consolePack.ts'
import { whenLauncherDies } from './launchers.ts'

await runProgram(process.argv.slice(2), {
  runtime: undefined,
  serveWords: [process.execPath, ...process.execArgv, Bun.main, 'serve'],
  stopWhen: whenLauncherDies(),
  consolePack: async () => {
    const file = await packedConsole(join(import.meta.dir, '..'))
    return file === undefined ? undefined : await Bun.file(file).bytes()
  },
})
