import { atEnd } from '../support/atEnd.ts'
import { PROGRAM } from '../support/process.ts'

/** A running `creel listen` or `creel tail`. */
export interface ListenerProcess {
  /** Everything on stdout so far. */
  stdout(): string
  stderr(): string
  /** Resolves when stdout or stderr matches. */
  says(pattern: RegExp): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Resolves when everything that it has said is read, too. */
  readonly exited: Promise<number>
}

/** Starts a command that runs until it is stopped. It is killed when the test file ends. */
export function startCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): ListenerProcess {
  const child = Bun.spawn([...PROGRAM, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const forget = atEnd('borrowers', async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  void child.exited.then(forget)
  let stdout = ''
  let stderr = ''
  let changed = Promise.withResolvers<void>()
  const collect = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      take(decoder.decode(chunk, { stream: true }))
      changed.resolve()
      changed = Promise.withResolvers()
    }
  }
  const read = [
    collect(child.stdout, (text) => {
      stdout += text
    }),
    collect(child.stderr, (text) => {
      stderr += text
    }),
  ]
  let isOver = false
  const exited = Promise.all([child.exited, ...read]).then(([code]) => {
    isOver = true
    return code
  })
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    async says(pattern) {
      while (!pattern.test(stdout) && !pattern.test(stderr)) {
        if (isOver)
          throw new Error(`creel ${words.join(' ')} ended with ${child.exitCode}: ${stdout}${stderr}`)
        await Promise.race([changed.promise, exited])
      }
    },
    signal: (signal) => child.kill(signal),
    exited,
  }
}
