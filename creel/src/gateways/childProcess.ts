import type { ProcessMetrics } from '@creel/core/platform/metrics'
import type { FromMember, ToMember } from './messages.ts'
import { Questions } from './questions.ts'

/** Shorter than the limit of a check of `/readyz`. */
const ANSWER_MS = 1500

/** Callbacks of the first process. */
export interface ChildEvents {
  onMessage(message: FromMember): void
  /** Called once, with the exit code or the name of the signal. */
  onEnded(how: number | string): void
}

/** One further gateway process, as the first one sees it. */
export class ChildProcess {
  readonly startedAt = performance.now()
  readonly metrics = new Questions<ProcessMetrics>(
    (id) => this.send({ kind: 'ask', id, about: 'metrics' }),
    ANSWER_MS,
  )
  readonly readiness = new Questions<boolean>(
    (id) => this.send({ kind: 'ask', id, about: 'readiness' }),
    ANSWER_MS,
  )
  isReady = false
  hasEnded = false
  /** Its counts as they were read last. */
  lastMetrics: ProcessMetrics = []
  readonly #child: ReturnType<typeof spawn>

  constructor(
    words: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    events: ChildEvents,
  ) {
    this.#child = spawn(words, env, (message) => {
      if (message.kind === 'metrics') this.metrics.take(message.id, message.answer)
      else if (message.kind === 'readiness') this.readiness.take(message.id, message.answer)
      else events.onMessage(message)
    })
    void this.#child.exited.then((code) => {
      this.hasEnded = true
      this.isReady = false
      this.metrics.end()
      this.readiness.end()
      events.onEnded(this.#child.signalCode ?? code)
    })
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Resolves when the process has ended. */
  get exited(): Promise<unknown> {
    return this.#child.exited
  }

  /** Sends a message; it is lost when the process has just ended. */
  send(message: ToMember): void {
    try {
      if (!this.hasEnded) this.#child.send(message)
    } catch {
      // The channel closes before the exit is reported.
    }
  }

  /** Ends the process at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

function spawn(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  onMessage: (message: FromMember) => void,
) {
  return Bun.spawn([...words], {
    env: { ...env },
    // Its log goes where ours goes. It prints nothing.
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: (message: FromMember) => onMessage(message),
  })
}
