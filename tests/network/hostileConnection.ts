import { connect, type Socket } from 'node:net'
import { type Answer, AnswerReader, MalformedAnswer } from './answerReader.ts'
import type { Ask } from './asks.ts'

/** Callbacks for the findings of connections. */
export interface ConnectionEvents {
  onComplaint(complaint: string): void
  /** A request was sent whole. */
  onSent(ask: Ask): void
  /** A request was answered as it should be. */
  onAnswer(ask: Ask, answer: Answer): void
}

/** Address for connecting. */
export interface Dial {
  readonly port: number
  /** Local address. */
  readonly from: string
}

/** A request in its connection's stream of bytes. */
interface Placed {
  readonly ask: Ask
  readonly start: number
  readonly end: number
}

/**
 * A request that stays incomplete, or an answer that stays unread, for longer may reach a timeout of the service. The
 * shortest is 2 s, for a client to read the last answer.
 */
const SLOW_MS = 1500

/**
 * One connection with a model of what it may receive: every answer is well-formed, belongs to the next request in
 * order, and comes when that request has arrived; each whole request is answered once, or the connection may end for a
 * reason that the model knows.
 */
export class HostileConnection {
  readonly socket: Socket
  readonly from: string
  /** Resolves when the connection is open, or cannot be. */
  readonly connected: Promise<void>
  readonly closed: Promise<void>
  readonly #events: ConnectionEvents
  readonly #reader: AnswerReader
  readonly #placed: Placed[] = []
  readonly #history: string[] = []
  #planned: Buffer[] = []
  #plannedBytes = 0
  #sentBytes = 0
  #answered = 0
  #interims = 0
  #hasEnded = false
  #isClosed = false
  #isPaused = false
  #finSent = false
  #complained = false
  /** Reason for which the service may end the connection with requests unanswered. */
  #mayEnd: string | undefined
  #waitingSince: number | undefined
  #longestWaitMs = 0

  constructor({ port, from }: Dial, events: ConnectionEvents) {
    this.#events = events
    this.from = from
    this.#reader = new AnswerReader({
      isHead: (index) => this.#placed[index]?.ask.isHead === true,
      onInterim: (status) => this.#takeInterim(status),
      onHead: (status) => this.#takeHead(status),
      onAnswer: (answer) => this.#takeAnswer(answer),
    })
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
    this.socket.setNoDelay(true)
    this.socket.on('error', (error) => this.#note(String(error)))
    this.socket.on('connect', () => this.#note('connected'))
    this.socket.on('data', (bytes: Buffer) => this.#read(bytes))
    this.socket.on('end', () => {
      this.#note('end')
      // Closes the other half, since the client has nothing more to send.
      this.socket.end()
    })
    this.connected = new Promise((resolve) => {
      this.socket.once('connect', () => resolve())
      this.socket.once('close', () => resolve())
    })
    this.closed = new Promise((resolve) => {
      this.socket.once('close', () => {
        this.#takeEnd()
        resolve()
      })
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether more can be sent. */
  get canSend(): boolean {
    return !this.#isClosed && !this.#finSent && !this.socket.destroyed && !this.#hasEnded
  }

  /** Whether further requests would ever be answered. */
  get canAsk(): boolean {
    const last = this.#placed.at(-1)?.ask
    return this.canSend && last?.closes !== true && !this.isEndless
  }

  /** Whether bytes of a request are planned and not sent. */
  get isWithinAsk(): boolean {
    return this.#plannedBytes > 0
  }

  /** Whether every request that was sent whole, and has an end, is answered. */
  get isSettled(): boolean {
    return this.#isClosed || this.#owed().length === 0
  }

  /** Whether its last answer is a stream, which goes on until the client closes. */
  get isEndless(): boolean {
    return this.#placed.at(-1)?.ask.isEndless === true
  }

  /** From now on the service may end the connection at any time, for this reason. */
  allowEnd(reason: string): void {
    this.#mayEnd ??= reason
  }

  /** Appends a request to the plan. */
  plan(ask: Ask): void {
    const start = this.#sentBytes + this.#plannedBytes
    this.#placed.push({ ask, start, end: start + ask.bytes.length })
    this.#planned.push(ask.bytes)
    this.#plannedBytes += ask.bytes.length
  }

  /** Sends this many of the planned bytes. */
  send(bytes = this.#plannedBytes): void {
    if (!this.canSend || bytes === 0 || this.#plannedBytes === 0) return
    const all = this.#planned.length === 1 ? this.#planned[0] : Buffer.concat(this.#planned)
    if (all === undefined) return
    const piece = all.subarray(0, bytes)
    const rest = all.subarray(piece.length)
    this.#planned = rest.length === 0 ? [] : [rest]
    this.#plannedBytes = rest.length
    const before = this.#sentBytes
    this.#sentBytes += piece.length
    for (const { ask, end } of this.#placed) {
      if (end > before && end <= this.#sentBytes) this.#events.onSent(ask)
    }
    this.#note(`send ${piece.length}`)
    this.socket.write(piece)
    this.#measureWait()
  }

  pause(): void {
    this.#note('pause')
    this.#isPaused = true
    this.socket.pause()
    this.#measureWait()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#note('resume')
    this.#isPaused = false
    this.socket.resume()
    this.#measureWait()
  }

  /** Closes the sending half, and continues to read. */
  halfClose(): void {
    if (!this.canSend) return
    this.#note('fin')
    this.#finSent = true
    if (this.isWithinAsk) this.allowEnd('we left a request incomplete')
    if (this.isEndless) this.allowEnd('we have cancelled a stream')
    this.socket.end()
  }

  reset(): void {
    this.#note('reset')
    this.allowEnd('we have reset it')
    this.socket.resetAndDestroy()
  }

  /** Closes both halves; unread answers make that a reset. */
  destroy(): void {
    this.#note('close')
    this.allowEnd('we have closed it')
    this.socket.destroy()
  }

  /** The state, for messages. */
  describe(): string {
    const owed = this.#owed().map(({ ask }) => ask.name)
    return `${this.from}: ${this.#history.slice(-30).join(', ')}; ${this.#answered} of ${this.#placed.length} answered, owed: ${owed.slice(0, 4).join(' | ')}`
  }

  #read(bytes: Buffer): void {
    this.#note(`read ${bytes.length}`)
    if (this.#hasEnded) this.#complain('bytes behind the answer that ends the connection')
    if (this.#complained) return
    try {
      this.#reader.read(bytes)
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error
      this.#complain(error.message)
    }
    this.#measureWait()
  }

  #takeInterim(status: number): void {
    const next = this.#placed[this.#answered]
    this.#interims += 1
    if (status !== 100) this.#complain(`an interim answer ${status}`)
    else if (next?.ask.expectsContinue !== true) this.#complain('100 Continue that was not expected')
    else if (this.#sentBytes < next.start + next.ask.headBytes) this.#complain('100 Continue before the head')
    else if (this.#interims > 1) this.#complain('a second 100 Continue')
  }

  #takeHead(status: number): void {
    const next = this.#placed[this.#answered]
    if (this.#hasEnded) this.#complain(`an answer ${status} behind the last one`)
    else if (next === undefined) this.#complain(`an answer ${status} to no request`)
    else if (this.#sentBytes < next.start + next.ask.headBytes) {
      this.#complain(`an answer ${status} before the head of ${next.ask.name}`)
    } else if (status < 300 && this.#sentBytes < next.end) {
      this.#complain(`an answer ${status} before the end of ${next.ask.name}`)
    }
  }

  #takeAnswer(answer: Answer): void {
    const placed = this.#placed[this.#answered]
    if (placed === undefined || this.#complained) return
    const { ask } = placed
    const complaint = ask.complaintOf(answer)
    if (complaint !== undefined) this.#complain(`${ask.name}: ${complaint}`)
    if (ask.closes && !answer.closes) this.#complain(`${ask.name}: the answer keeps the connection`)
    if (!ask.closes && answer.closes && answer.status < 400) {
      this.#complain(`${ask.name}: the answer ${answer.status} ends the connection`)
    }
    this.#answered += 1
    this.#interims = 0
    this.#hasEnded = answer.closes
    // A close with bytes unread is a reset, which may overtake an answer.
    if (answer.closes && this.#sentBytes > placed.end) this.allowEnd('we sent on behind the last answer')
    this.#events.onAnswer(ask, answer)
  }

  #takeEnd(): void {
    this.#measureWait()
    this.#isClosed = true
    this.#reader.readEnd()
    if (this.#longestWaitMs > SLOW_MS) this.allowEnd('we were slow')
    if (this.#mayEnd !== undefined || this.#complained) return
    if (this.#reader.isWithinAnswer) this.#complain('the connection ended within an answer')
    const owed = this.#owed().filter(({ ask }) => !(ask.isCancelled && this.#finSent))
    if (owed.length > 0) this.#complain(`the connection ended with ${owed.length} requests unanswered`)
    else if (!this.#finSent && !this.#hasEnded) this.#complain('the connection ended without a reason')
  }

  /** Whole requests that wait for their answer, up to the first that ends the connection. */
  #owed(): readonly Placed[] {
    if (this.#hasEnded) return []
    const owed: Placed[] = []
    for (let index = this.#answered; index < this.#placed.length; index += 1) {
      const placed = this.#placed[index]
      if (placed === undefined || placed.end > this.#sentBytes || placed.ask.isEndless) break
      owed.push(placed)
      if (placed.ask.closes) break
    }
    return owed
  }

  /** Deadlines of the service run while a request is incomplete or an answer is not read. */
  #measureWait(): void {
    const now = performance.now()
    if (this.#waitingSince !== undefined) {
      this.#longestWaitMs = Math.max(this.#longestWaitMs, now - this.#waitingSince)
    }
    if (!this.isWithinAsk && !this.#isPaused) this.#waitingSince = undefined
    else this.#waitingSince ??= now
  }

  #note(step: string): void {
    this.#history.push(step)
    if (this.#history.length > 60) this.#history.splice(0, 20)
  }

  #complain(complaint: string): void {
    if (this.#complained) return
    this.#complained = true
    this.#events.onComplaint(`${complaint} (${this.describe()})`)
  }
}
