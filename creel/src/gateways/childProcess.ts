import type { ProcessMetrics } from '@creel/core/platform/metrics'
import type { CountReport, CountTotal } from '@creel/gateway'
import type { Environment } from '@creel/terminal/tools'
import type { ProcessStates } from '../service/index.ts'

/** Questions of one kind to the process at the other end of a channel. */
export class Questions<Answer> {
  readonly #send: (id: number) => void
  readonly #answerMs: number
  readonly #open = new Map<number, PromiseWithResolvers<Answer>>()
  #last = 0

  /**
   * @param send sends the question under its number
   * @param answerMs longest wait for an answer
   */
  constructor(send: (id: number) => void, answerMs: number) {
    this.#send = send
    this.#answerMs = answerMs
  }

  /** @throws Error when the other process fails, ends, or does not answer in time */
  async ask(): Promise<Answer> {
    this.#last += 1
    const id = this.#last
    const answer = Promise.withResolvers<Answer>()
    this.#open.set(id, answer)
    const timer = setTimeout(
      () => answer.reject(new Error(`no answer within ${this.#answerMs} ms`)),
      this.#answerMs,
    )
    try {
      this.#send(id)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.#open.delete(id)
    }
  }

  /** Takes an answer; null is a failure of the other process. */
  take(id: number, answer: Answer | null): void {
    if (answer === null) this.#open.get(id)?.reject(new Error('the other process failed to answer'))
    else this.#open.get(id)?.resolve(answer)
  }

  /** Fails every open question: the other process has ended. */
  end(): void {
    for (const { reject } of this.#open.values()) reject(new Error('the other process has ended'))
  }
}

/** Answers a question: null when the answer could not be found. */
export async function answerOrNull<Answer>(find: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await find()
  } catch {
    return null
  }
}

/** Settings of a further gateway process that its own environment does not tell. */
export interface MemberSettings {
  /** Version of the first process: another version has another database. */
  readonly version: string
  readonly processes: number
  readonly port: number
  readonly storageMaxBytes: number | null
}

/** From the first process to another. An answer of null is a failure. */
export type ToMember =
  | { readonly kind: 'start'; readonly settings: MemberSettings }
  | { readonly kind: 'stop' }
  | { readonly kind: 'totals'; readonly totals: readonly CountTotal[] }
  | { readonly kind: 'ask'; readonly id: number; readonly about: 'metrics' | 'readiness' }
  | { readonly kind: 'metrics'; readonly id: number; readonly answer: string | null }
  | { readonly kind: 'states'; readonly id: number; readonly answer: ProcessStates | null }

/** From another process to the first. */
export type FromMember =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'reports'; readonly reports: readonly CountReport[] }
  | { readonly kind: 'ask'; readonly id: number; readonly about: 'metrics' | 'states' }
  | { readonly kind: 'metrics'; readonly id: number; readonly answer: ProcessMetrics | null }
  | { readonly kind: 'readiness'; readonly id: number; readonly answer: boolean | null }
  /** The last message of a process that has drained. */
  | { readonly kind: 'ended'; readonly metrics: ProcessMetrics }

/** Whether a message has the form of ours: both processes run the same program, so its kind tells the rest. */
export function isMessage<Message extends ToMember | FromMember>(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'kind' in message
}

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

  constructor(words: readonly string[], env: Environment, events: ChildEvents) {
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

function spawn(words: readonly string[], env: Environment, onMessage: (message: FromMember) => void) {
  return Bun.spawn([...words], {
    env: { ...env },
    // Its log goes where ours goes. It prints nothing.
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: (message: FromMember) => onMessage(message),
  })
}
