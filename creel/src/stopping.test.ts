import { expect, test } from 'bun:test'
import { join } from 'node:path'

const MODULES = { 'a command': '../../clients/terminal/src/screen/withView.ts', 'the service': 'stopping.ts' }

/** What stops takes longer than the time within which a second signal is the first one again. */
const BUSY = 'for (const until = performance.now() + 300; performance.now() < until; );'
const STARTS = {
  'a command': `await untilStopped((signal) => new Promise((resolve) => signal.addEventListener('abort', () => { ${BUSY} setImmediate(resolve) })))`,
  'the service': `await listenForStop({ log: console, stopWhen: undefined, abandon() {} }); ${BUSY}; await new Promise(setImmediate)`,
}

test.each(['a command', 'the service'] as const)(
  'a signal that is passed on while %s is busy with stopping is the first one again',
  async (which) => {
    const code = `
      const { untilStopped, listenForStop } = await import(${JSON.stringify(join(import.meta.dir, MODULES[which]))})
      setTimeout(() => { for (const signal of ['SIGINT', 'SIGTERM']) process.kill(process.pid, signal) }, 0)
      const alive = setInterval(() => {}, 1000)
      ${STARTS[which]}
      clearInterval(alive)
      console.log('ended by itself')
      process.exit(0)`
    const child = Bun.spawn([process.execPath, '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    expect(await new Response(child.stdout).text()).toBe('ended by itself\n')
    expect(await child.exited).toBe(0)
  },
)
