import { countPiece } from '@creel/core/platform/memory'
import type { ConnectionOwner, OwnedConnection } from './connectionTable.ts'
import { BodyDeadline, UnsentDeadline } from './deadlines.ts'
import type { BodyReceiver } from './exchange.ts'
import { type ExchangeConnection, HttpExchange } from './httpExchange.ts'
import { PendingInput } from './inputBuffers.ts'
import { ownAnswer } from './ownAnswers.ts'
import { isRefusal, type Refusal } from './requestHead.ts'
import { RequestReader } from './requestReader.ts'
import { type ConnectionSocket, SocketWriter } from './socketWriter.ts'
import { nextTraceId } from './traceIds.ts'

/**
 * - `idle`: between requests
 * - `head`: a head has begun to arrive
 * - `held`: the head is complete, and its handler has not asked for the body
 * - `body`: the handler receives the body
 * - `dropping`: the answer is given or begun, and the rest of the body is read and dropped
 * - `answering`: the request is read, and its answer is incomplete
 * - `sending`: the answer is complete, and the client has not taken all of it
 * - `lingering`: our side is closed; the client has a moment to read the answer
 */
type Phase = 'idle' | 'head' | 'held' | 'body' | 'dropping' | 'answering' | 'sending' | 'lingering' | 'closed'

const NOTHING: Buffer = Buffer.alloc(0)
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n')
/** Bytes that are buffered before a handler reads them. Beyond this limit, reading from the client is paused. */
const AHEAD_BYTES_MAX = 16 * 1024
/**
 * Bytes of an unwanted body that are read and dropped to keep the connection open, or to let the client read the
 * answer.
 */
const DROPPED_BYTES_MAX = 1024 * 1024
/**
 * Pipelined requests beyond these limits in one turn of the event loop wait for a later turn, however fast their client
 * reads. Other connections are served in between.
 */
const TURN_BYTES_MAX = 64 * 1024
const TURN_MS_MAX = 1

/** One client's connection: reads requests, has them answered one at a time, in order, and keeps to the limits. */
export class Connection implements OwnedConnection, ExchangeConnection {
  readonly #socket: ConnectionSocket
  readonly #owner: ConnectionOwner
  readonly #reader: RequestReader
  readonly writer: SocketWriter
  heldBytes = 0
  readonly peer: string
  #phase: Phase = 'idle'
  #since: number
  #exchange: HttpExchange | undefined
  #receiver: BodyReceiver | undefined
  readonly #input = new PendingInput()
  #isRunning = false
  #saidContinue = false
  #hasServed = false
  #bodyPaused = false
  #socketPaused = false
  #peerEnded = false
  #droppedBytes = 0
  #closes = false
  /**
   * True while the part of the body that has arrived is dropped before an early answer is written: a malformed body must
   * not prevent that answer.
   */
  #beginsAnswer = false
  /** Whether the client is read from during the present answer, however much it sends ahead. */
  #readsThrough = false
  /** Start of the current run of pipelined requests, by `performance.now()`; 0 without one. */
  #turnStartedAt = 0
  /** `writtenBytes` of the writer at that time. */
  #turnFromBytes = 0
  #waitsForTurn = false
  readonly #bodyDeadline: BodyDeadline
  readonly #unsentDeadline: UnsentDeadline

  constructor(socket: ConnectionSocket, owner: ConnectionOwner) {
    this.#socket = socket
    this.#owner = owner
    this.#reader = new RequestReader(owner.limits)
    this.#bodyDeadline = new BodyDeadline(owner.limits)
    this.#unsentDeadline = new UnsentDeadline(owner.limits)
    this.writer = new SocketWriter(socket)
    this.peer = socket.remoteAddress
    this.#since = owner.tick
  }

  get hasPeerEnded(): boolean {
    return this.#peerEnded
  }

  get isIdle(): boolean {
    return this.#phase === 'idle' && !this.#waitsForTurn
  }

  get hasServed(): boolean {
    return this.#hasServed
  }

  get unsentBytes(): number {
    return this.writer.unsentBytes + this.heldBytes
  }

  /** Called when bytes have arrived. */
  receive(bytes: Buffer): void {
    if (this.#phase === 'closed') return
    if (this.#phase === 'lingering') {
      this.#droppedBytes += bytes.length
      // A client that sends on has until the deadline to read the answer, which a reset would discard.
      if (this.#droppedBytes > DROPPED_BYTES_MAX) this.#socket.pause()
      return
    }
    this.#input.append(bytes)
    this.#run()
    countPiece(bytes.length)
  }

  /** Called when the client has half-closed; it may still read. */
  peerEnd(): void {
    this.#peerEnded = true
    if (this.#phase === 'lingering') this.#socket.end()
    else if (this.#phase === 'answering' || this.#phase === 'held') this.#exchange?.hangUp()
    this.#run()
  }

  /** Called when the socket accepts bytes again. */
  drain(): void {
    this.writer.flush()
    if (this.#phase === 'sending') this.#settle()
    this.#run()
  }

  /** Called when the socket is closed, by either side. */
  closed(): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#input.clear()
    this.heldBytes = 0
    this.writer.abandon()
    this.#reader.free()
    this.#abandonExchange()
  }

  end(): void {
    this.#linger()
  }

  terminate(): void {
    if (this.#phase !== 'closed') this.#socket.terminate()
  }

  fail(error: unknown): void {
    this.#owner.onFault(error)
    try {
      this.closed()
    } catch {
      // The first error is reported.
    }
    this.#socket.terminate()
  }

  takeTurn(): void {
    this.#waitsForTurn = false
    this.#turnStartedAt = 0
    this.#run()
  }

  checkDeadlines(): void {
    const { tick, ticks } = this.#owner
    const age = tick - this.#since
    switch (this.#phase) {
      case 'idle':
        if (age > ticks.idle) this.#linger()
        break
      case 'head':
        if (age > ticks.head) this.terminate()
        break
      case 'body':
      case 'dropping':
        if (this.#bodyDeadline.isOver(this.#socketPaused || this.#bodyPaused)) this.terminate()
        break
      case 'lingering':
        if (age > ticks.linger) this.terminate()
    }
    if (this.writer.hasFailed || this.#unsentDeadline.isOver(this.writer.unsentBytes)) this.terminate()
  }

  // Methods for the exchange.

  takeWhole(): Buffer | undefined {
    if (this.#reader.bodyEnded) return NOTHING
    const { bodyLeft } = this.#reader
    if (bodyLeft === undefined || this.#input.length < bodyLeft) return undefined
    this.#sayContinue()
    const body = this.#reader.readBody(this.#input.bytes, this.#input.at)
    this.#input.at = this.#reader.position
    this.#enter('answering')
    return isRefusal(body) ? undefined : body
  }

  receiveBody(receiver: BodyReceiver): void {
    this.#receiver = receiver
    this.#bodyPaused = false
    this.#enter('body')
    this.#bodyDeadline.begin()
    this.#sayContinue()
    this.#run()
  }

  pauseBody(paused: boolean): void {
    this.#bodyPaused = paused
    if (!paused) this.#run()
  }

  beginAnswer(keepAlive: boolean, closesUnlessWhole: boolean): boolean {
    this.#receiver = undefined
    // Dropped bytes are read at any speed, so their deadline runs, even if the handler had not read all that it got.
    this.#bodyPaused = false
    if (!this.#reader.bodyEnded) {
      this.#enter('dropping')
      this.#bodyDeadline.begin()
      this.#droppedBytes = 0
      this.#beginsAnswer = true
      while (this.#dropBody());
      this.#beginsAnswer = false
    } else this.#enter('answering')
    const left = this.#reader.bodyEnded ? 0 : (this.#reader.bodyLeft ?? 1)
    // The connection ends after a malformed body.
    const isBroken = left > 0 && this.#phase === 'answering'
    // A sender that got no `100 Continue` may leave the body out. Then the start of the next request is unknown.
    const mayStayAway = this.#exchange?.head.expectsContinue === true && !this.#saidContinue
    const isTooMuch = left > DROPPED_BYTES_MAX || (left > 0 && (closesUnlessWhole || mayStayAway))
    this.#closes = !keepAlive || isTooMuch || isBroken || this.#owner.isDraining
    return this.#closes
  }

  readThrough(): void {
    this.#readsThrough = true
    this.#droppedBytes = 0
    this.#run()
  }

  endAnswer(mustClose: boolean): void {
    this.#readsThrough = false
    // An answer may have begun long before the drain did.
    if (mustClose || this.#owner.isDraining) this.#closes = true
    this.#exchange = undefined
    this.#settle()
    this.#run()
  }

  #sayContinue(): void {
    if (this.#exchange?.head.expectsContinue !== true) return
    this.#saidContinue = true
    this.writer.write(CONTINUE)
  }

  #run(): void {
    // Handlers answer and resume reading from within this loop.
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      while (this.#step());
    } catch (error) {
      this.fail(error)
    } finally {
      this.#isRunning = false
    }
    if (this.#phase === 'closed') return
    if (this.#input.length === 0) {
      this.#input.clear()
      if (this.#phase === 'idle') this.#turnStartedAt = 0
    }
    const isAhead = this.#input.length > AHEAD_BYTES_MAX
    // A client that is not read from cannot be seen to end.
    if (isAhead && this.#readsThrough && this.#phase === 'answering') {
      this.#dropAhead()
      return
    }
    if (isAhead !== this.#socketPaused) {
      this.#socketPaused = isAhead
      if (isAhead) this.#socket.pause()
      else this.#socket.resume()
    }
  }

  /** @returns whether to step again */
  #step(): boolean {
    switch (this.#phase) {
      case 'idle':
      case 'head':
        return this.#readHead()
      case 'body':
        return !this.#bodyPaused && this.#readBody()
      case 'dropping':
        return this.#dropBody()
      default:
        return false
    }
  }

  #readHead(): boolean {
    if (this.#input.length === 0) {
      if (this.#peerEnded) this.#linger()
      return false
    }
    if (this.#mustWaitForTurn()) return false
    const step = this.#reader.readHead(this.#input.bytes, this.#input.at)
    this.#input.at = this.#reader.position
    if (step === undefined) {
      if (this.#reader.isWithinHead && this.#phase === 'idle') this.#enter('head')
      // The end of input raises no further event.
      if (this.#peerEnded) this.#linger()
      return false
    }
    if (isRefusal(step)) return this.#refuse(step)
    this.#enter('held')
    this.#saidContinue = false
    this.#hasServed = true
    if (this.#turnStartedAt === 0) {
      this.#turnStartedAt = performance.now()
      this.#turnFromBytes = this.writer.writtenBytes
    }
    this.#exchange = new HttpExchange(this, step)
    this.#owner.serve(this, this.#exchange)
    return true
  }

  #dropAhead(): void {
    this.#droppedBytes += this.#input.length
    this.#input.clear()
    this.#closes = true
    if (this.#droppedBytes > DROPPED_BYTES_MAX) this.terminate()
    else if (this.#socketPaused) this.#socket.resume()
    this.#socketPaused = false
  }

  #mustWaitForTurn(): boolean {
    if (this.#waitsForTurn) return true
    if (this.#turnStartedAt === 0) return false
    const bytes = this.writer.writtenBytes - this.#turnFromBytes
    if (bytes <= TURN_BYTES_MAX && performance.now() - this.#turnStartedAt <= TURN_MS_MAX) return false
    this.#waitsForTurn = true
    this.#owner.turns.push(this)
    return true
  }

  #readBody(): boolean {
    const piece = this.#readPiece()
    if (piece === undefined) return false
    if (piece.length > 0) this.#receiver?.onData(piece)
    if (!this.#reader.bodyEnded || this.#phase !== 'body') return true
    const receiver = this.#receiver
    this.#receiver = undefined
    this.#enter('answering')
    receiver?.onEnd(this.#reader.trailers)
    if (this.#peerEnded) this.#exchange?.hangUp()
    return true
  }

  #dropBody(): boolean {
    const leftBefore = this.#input.length
    if (this.#readPiece(true) === undefined) return false
    this.#droppedBytes += leftBefore - this.#input.length
    if (this.#droppedBytes > DROPPED_BYTES_MAX) this.#closes = true
    if (this.#reader.bodyEnded) {
      this.#enter('answering')
      if (this.#exchange === undefined) this.#settle()
    } else if (this.#closes && this.#exchange === undefined) this.#settle()
    return this.#phase === 'dropping' || this.#phase === 'idle'
  }

  /** @returns undefined when nothing has arrived, or the connection was terminated */
  #readPiece(isDropped = false): Buffer | undefined {
    if (this.#reader.bodyEnded) return NOTHING
    if (this.#input.length === 0) {
      if (this.#peerEnded) this.terminate()
      return undefined
    }
    const from = this.#input.at
    const piece = this.#reader.readBody(this.#input.bytes, from, isDropped)
    this.#input.at = this.#reader.position
    this.#bodyDeadline.count(this.#input.at - from)
    if (!isRefusal(piece)) return piece
    this.#refuse(piece)
    return undefined
  }

  #refuse(refusal: Refusal): false {
    const isAnswered = this.#phase === 'dropping'
    const target = refusal.target ?? this.#exchange?.head.target
    this.#owner.onRefused(this, refusal)
    if (this.#beginsAnswer) {
      this.#input.clear()
      this.#enter('answering')
      return false
    }
    this.#abandonExchange()
    if (!isAnswered) {
      const traceId = nextTraceId()
      const answer = ownAnswer(refusal.status, target, traceId)
      this.writer.writeCopy(answer.bytes({ isHead: false, closes: true, traceId }))
    }
    this.#linger()
    return false
  }

  /** Goes on to the next request once this one is read and answered, and the client has taken the answer. */
  #settle(): void {
    if (this.#phase === 'closed' || this.#phase === 'lingering') return
    if (!this.#closes && !this.#reader.bodyEnded) return
    if (this.writer.unsentBytes > 0) this.#enter('sending')
    else if (this.#closes) this.#linger()
    else {
      this.#enter('idle')
      this.#owner.onIdle(this)
    }
  }

  #abandonExchange(): void {
    const receiver = this.#receiver
    const exchange = this.#exchange
    this.#receiver = undefined
    this.#exchange = undefined
    receiver?.onAbort()
    exchange?.gone()
  }

  /** Half-closes our side. Input that still arrives is dropped; resetting the connection would discard our answer. */
  #linger(): void {
    if (this.#phase === 'closed' || this.#phase === 'lingering') return
    const mayBeSending = !this.#reader.bodyEnded || this.#input.length > 0
    this.#enter('lingering')
    this.#droppedBytes = 0
    this.#input.clear()
    if (mayBeSending && !this.#peerEnded) this.#socket.shutdown()
    else this.#socket.end()
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.#since = this.#owner.tick
  }
}
