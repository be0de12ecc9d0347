import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { pathLikeNpx, temporaryFolder } from '../support/process.ts'

const LAUNCHERS = join(import.meta.dir, '../../scripts/launchers.ts')

/** Uses all descriptors, so that /proc cannot be read, for longer than two checks of its launchers. */
const WATCHER = `
  import { closeSync, openSync } from 'node:fs'
  import { whenLauncherDies } from ${JSON.stringify(LAUNCHERS)}
  void whenLauncherDies().then((why) => {
    console.log(why)
    process.exit()
  })
  const taken = []
  try {
    for (;;) taken.push(openSync('/dev/null'))
  } catch (error) {
    console.log(error.code)
  }
  await Bun.sleep(600)
  for (const descriptor of taken) closeSync(descriptor)
  console.log('alive')
  setInterval(() => {}, 1000)`

test.skipIf(process.platform !== 'linux')(
  'a launcher is not taken for dead when no descriptor is left to look at it, but when it is',
  async () => {
    const cwd = await temporaryFolder()
    await writeFile(join(cwd, 'watcher.ts'), WATCHER)
    await writeFile(join(cwd, 'package.json'), '{"scripts":{"watch":"bun watcher.ts"}}')
    const shell = Bun.spawn(['sh', '-c', 'ulimit -n 256; bun run watch; exit $?'], {
      cwd,
      env: { PATH: await pathLikeNpx() },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let said = ''
    const decoder = new TextDecoder()
    const reading = (async () => {
      for await (const chunk of shell.stdout) {
        said += decoder.decode(chunk)
        if (said.includes('is gone')) return
      }
    })()
    await eventually('the watcher, alive without descriptors', () => said.includes('alive'))
    expect(said).toBe('EMFILE\nalive\n')
    shell.kill('SIGKILL')
    await reading
    expect(said).toMatch(/^EMFILE\nalive\nthe process that started us \(\d+\) is gone\n$/)
  },
)
