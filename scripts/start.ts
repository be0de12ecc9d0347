/**
 * `bun run start`: installs missing packages, then serves. It is one process, so that signals reach the service itself.
 */
import { join } from 'node:path'
import { runWithServingEnvironment } from '../creel/src/servingEnvironment.ts'
import { bundledProgram, compileBundle } from './bundle.ts'
import { packedConsole } from './console/packed.ts'
import { installMissing } from './install.ts'
import { checkoutCommand, whenLauncherDies } from './launchers.ts'

const COMPILE_AFTER_MS = 10_000

runWithServingEnvironment([process.execPath, ...process.execArgv, Bun.main, ...process.argv.slice(2)])
installMissing()
const root = join(import.meta.dir, '..')
// Both at once: another process makes the pack.
const packed = packedConsole(root)
const program = bundledProgram(root)
// Long after the start, which needs the processors itself.
setTimeout(() => void compileBundle(root), COMPILE_AFTER_MS).unref()
const { runProgram }: typeof import('../creel/src/program.ts') = await import(program)
await runProgram(['serve', ...process.argv.slice(2)], {
  runtime: undefined,
  serveWords: [process.execPath, ...process.execArgv, Bun.main],
  command: checkoutCommand(),
  stopWhen: whenLauncherDies(),
  consolePack: async () => {
    const file = await packed
    return file === undefined ? undefined : await Bun.file(file).bytes()
  },
})
