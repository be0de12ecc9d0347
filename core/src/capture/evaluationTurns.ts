import { setTimeout as sleep } from 'node:timers/promises'
import { Turns } from '../platform/turns/index.ts'

/** Evaluation runs this long, in milliseconds, before other work of the process goes on. A piece is never cut short. */
const SLICE_MS = 8
/** Share of the event loop that evaluation of one workspace's captures may take in the long run. */
const SHARE = 1 / 3
/** Evaluation, in milliseconds, that a workspace may use at once after a quiet time. */
const CREDIT_MS = 100
/** Longest wait in milliseconds. Captures that would wait longer are refused. */
const WAIT_MS_MAX = 30_000
/** Bytes of bodies that wait for one workspace. Captures beyond it are refused. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024
/** `Retry-After` of a refused capture is at most this many seconds. */
const RETRY_SECONDS_MAX = 60
/** Accounts of workspaces above this number are dropped when they are full and not in use. */
const ACCOUNTS_MAX = 1000

export interface Evaluation<Result> {
  readonly workspaceId: string
  /** Estimated work, in bytes times comparisons. Compared with other evaluations of the workspace only. */
  readonly units: number
  /** Memory that the evaluation holds while it waits. */
  readonly bytes: number
  /** Yields at points of interruption. Abandoned when the sender is gone. */
  readonly pieces: Generator<void, Result>
}

/** The connection of a capture's sender. */
export interface Sender {
  /** `half-closed`: it sends nothing more, and may still take its answer. */
  readonly peer: 'open' | 'half-closed' | 'gone'
  /** Calls the listener at each change of {@link Sender.peer} from now on. Replaces a listener. */
  onHangUp(listener: () => void): void
}

/** An evaluation that was dropped: its line is too long, its sender is gone, or the process stops. */
export interface GivenUp {
  readonly state: 'unavailable'
  readonly retryAfterSeconds: number
}

/** Divides the event loop between evaluations of workspaces and other work. */
export interface EvaluationTurns {
  /**
   * Evaluates at once and returns the result if the workspace has credit, nothing of it waits, and the work takes less
   * than {@link SLICE_MS}. Otherwise returns a promise: the workspace's evaluations then run one after the other, in
   * slices.
   *
   * @throws errors of the pieces
   */
  run<Result>(evaluation: Evaluation<Result>, sender?: Sender): Result | Promise<Result | GivenUp>
  /** Drops all waiting evaluations. */
  close(): void
}

/** Usage and waiting evaluations of a workspace. */
interface Account {
  /** Milliseconds; negative while the workspace has used more than its share. */
  creditMs: number
  creditedAt: number
  waitingCount: number
  waitingBytes: number
  waitingUnits: number
  /** Milliseconds for each unit in the last evaluations. */
  unitMs: number
}

/**
 * Charges each workspace for the time of its evaluations. A workspace that has used its share waits in its own line,
 * and does not delay other workspaces. Slices of different lines alternate, and use at most half of the event loop
 * together.
 *
 * @param clock monotonic milliseconds; tests pass their own
 */
export function createEvaluationTurns(clock: () => number = () => performance.now()): EvaluationTurns {
  const accounts = new Map<string, Account>()
  const lines = new Turns({ atOnce: 1 })
  const slices = new Turns({ atOnce: 1 })
  const waiting = new Set<AbortController>()
  /** Milliseconds of slices since the last rest began. */
  let unrestedMs = 0
  let restUntil = 0
  let isClosed = false

  const accountOf = (workspaceId: string): Account => {
    const known = accounts.get(workspaceId)
    if (known !== undefined) return known
    if (accounts.size >= ACCOUNTS_MAX) dropFullAccounts()
    const account = {
      creditMs: CREDIT_MS,
      creditedAt: clock(),
      waitingCount: 0,
      waitingBytes: 0,
      waitingUnits: 0,
      unitMs: 0,
    }
    accounts.set(workspaceId, account)
    return account
  }

  const dropFullAccounts = () => {
    for (const [workspaceId, account] of accounts) {
      if (account.waitingCount === 0 && creditOf(account) === CREDIT_MS) accounts.delete(workspaceId)
    }
  }

  const creditOf = (account: Account): number => {
    const now = clock()
    account.creditMs = Math.min(CREDIT_MS, account.creditMs + (now - account.creditedAt) * SHARE)
    account.creditedAt = now
    return account.creditMs
  }

  const runSlice = <Result>(account: Account, pieces: Generator<void, Result>) => {
    const startedAt = clock()
    let tookMs = 0
    try {
      for (;;) {
        const piece = pieces.next()
        tookMs = clock() - startedAt
        if (piece.done === true || tookMs >= SLICE_MS) return { piece, tookMs }
      }
    } finally {
      account.creditMs -= tookMs
    }
  }

  /**
   * Runs a slice when no other is running. After {@link SLICE_MS} of slices, other work has the event loop for as long.
   */
  const takeSlice = <Result>(account: Account, pieces: Generator<void, Result>) =>
    slices.run('', async () => {
      const restMs = restUntil - clock()
      if (restMs > 0) await sleep(restMs)
      const slice = runSlice(account, pieces)
      unrestedMs += slice.tookMs
      if (unrestedMs >= SLICE_MS) {
        restUntil = clock() + unrestedMs
        unrestedMs = 0
      }
      return slice
    })

  const runInSlices = async <Result>(
    account: Account,
    { pieces, units }: Evaluation<Result>,
    { spentMs, signal }: { readonly spentMs: number; readonly signal: AbortSignal },
  ): Promise<Result> => {
    let takenMs = spentMs
    account.unitMs = Math.max(account.unitMs, takenMs / units)
    for (;;) {
      signal.throwIfAborted()
      const debtMs = -creditOf(account)
      if (debtMs >= 0) await sleep(debtMs / SHARE + 1, undefined, { signal })
      const { piece, tookMs } = await takeSlice(account, pieces)
      takenMs += tookMs
      account.unitMs = Math.max(account.unitMs, takenMs / units)
      if (piece.done === true) {
        account.unitMs = takenMs / units
        return piece.value
      }
    }
  }

  /** Milliseconds until all waiting captures of a workspace are evaluated. */
  const expectedWaitMs = (account: Account): number =>
    (account.waitingUnits * account.unitMs - Math.min(0, creditOf(account))) / SHARE

  const givenUp = (account: Account): GivenUp => {
    const seconds = Math.ceil(expectedWaitMs(account) / 1000)
    return { state: 'unavailable', retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)) }
  }

  const joinLine = async <Result>(
    account: Account,
    evaluation: Evaluation<Result>,
    { sender, spentMs }: { readonly sender: Sender | undefined; readonly spentMs: number },
  ): Promise<Result | GivenUp> => {
    const { workspaceId, units, bytes } = evaluation
    const leaving = new AbortController()
    const tooLate = setTimeout(() => leaving.abort(), WAIT_MS_MAX)
    // A sender that has half-closed still takes its answer.
    const look = () => {
      if (sender?.peer === 'gone') leaving.abort()
    }
    sender?.onHangUp(look)
    look()
    waiting.add(leaving)
    account.waitingCount += 1
    account.waitingBytes += bytes
    account.waitingUnits += units
    try {
      return await lines.run(
        workspaceId,
        () => {
          clearTimeout(tooLate)
          return runInSlices(account, evaluation, { spentMs, signal: leaving.signal })
        },
        { signal: leaving.signal },
      )
    } catch (error) {
      if (!leaving.signal.aborted) throw error
      return givenUp(account)
    } finally {
      clearTimeout(tooLate)
      waiting.delete(leaving)
      account.waitingCount -= 1
      account.waitingBytes -= bytes
      account.waitingUnits -= units
    }
  }

  return {
    run(evaluation, sender) {
      const account = accountOf(evaluation.workspaceId)
      if (account.waitingCount === 0) {
        if (creditOf(account) <= 0) return joinLine(account, evaluation, { sender, spentMs: 0 })
        const { piece, tookMs } = runSlice(account, evaluation.pieces)
        return piece.done === true ? piece.value : joinLine(account, evaluation, { sender, spentMs: tookMs })
      }
      const isFull =
        isClosed ||
        account.waitingBytes + evaluation.bytes > WAITING_BYTES_MAX ||
        expectedWaitMs(account) > WAIT_MS_MAX
      return isFull
        ? Promise.resolve(givenUp(account))
        : joinLine(account, evaluation, { sender, spentMs: 0 })
    },
    close() {
      isClosed = true
      for (const leaving of waiting) leaving.abort()
    },
  }
}
