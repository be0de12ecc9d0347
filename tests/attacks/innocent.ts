import { existsSync, readFileSync } from 'node:fs'

/**
 * The bystander, in its own worker, so that the attacker's event loop does not delay it. It captures and reads all the
 * time, and also calls the bare echo. To the message `account` it answers with the results since the last one, and to a
 * number with the results so far, after as many rounds of calls.
 */

/** First message to the worker. */
export interface Innocent {
  readonly baseUrl: string
  readonly captureUrl: string
  readonly echoUrl: string
  readonly key: string
  readonly address: string
  /** Pause between its rounds of calls. */
  readonly pauseMs: number
  /** Process of the service. */
  readonly pid: number
}

/** Answer to the message `account`. */
export interface Account {
  readonly worstMs: number
  readonly medianMs: number
  /** The most processor time that the service's event loop used while one answer was awaited; 0 where it is unknown. */
  readonly worstBusyMs: number
  /** Worst answer of the bare echo in the same time. */
  readonly echoWorstMs: number
  /** Statuses other than 200, and failures. */
  readonly wrong: readonly string[]
}

declare const self: Worker

let times: number[] = []
let worstBusyMs = 0
let echoWorstMs = 0
let wrong: string[] = []
/** Rounds of calls until an answer is due. */
let roundsLeft = 0

self.onmessage = ({ data }: MessageEvent<Innocent | 'account' | number>) => {
  if (typeof data === 'number') roundsLeft = data
  else if (data === 'account') {
    postMessage(account())
    times = []
    worstBusyMs = 0
    echoWorstMs = 0
    wrong = []
  } else void live(data)
}

function account(): Account {
  const sorted = times.toSorted((a, b) => a - b)
  return {
    worstMs: sorted.at(-1) ?? 0,
    medianMs: sorted[sorted.length >> 1] ?? 0,
    worstBusyMs,
    echoWorstMs,
    wrong,
  }
}

async function live({ baseUrl, captureUrl, echoUrl, key, address, pauseMs, pid }: Innocent): Promise<void> {
  const headers = { 'X-Forwarded-For': address }
  for (;;) {
    await timed(pid, () => fetch(captureUrl, { method: 'POST', headers, body: '{"innocent":true}' }))
    await timed(pid, () =>
      fetch(`${baseUrl}/api/v1/me`, { headers: { ...headers, Authorization: `Bearer ${key}` } }),
    )
    const startedAt = performance.now()
    await (await fetch(echoUrl)).bytes()
    echoWorstMs = Math.max(echoWorstMs, performance.now() - startedAt)
    if (roundsLeft > 0) {
      roundsLeft -= 1
      if (roundsLeft === 0) postMessage(account())
    }
    await Bun.sleep(pauseMs)
  }
}

async function timed(pid: number, call: () => Promise<Response>): Promise<void> {
  const startedAt = performance.now()
  const busyBefore = busyMs(pid)
  try {
    // An idle connection may be closed just when it is used again: clients then open another (RFC 9112 §9.5).
    const answer = await call().catch(call)
    await answer.bytes()
    if (answer.status !== 200) wrong.push(String(answer.status))
  } catch (error) {
    wrong.push(String(error))
  }
  times.push(performance.now() - startedAt)
  worstBusyMs = Math.max(worstBusyMs, busyMs(pid) - busyBefore)
}

/** Processor time of a process's first thread, which runs its event loop. Other work of the machine does not add to it. */
function busyMs(pid: number): number {
  const path = `/proc/${pid}/schedstat`
  return existsSync(path) ? Number(readFileSync(path, 'latin1').split(' ')[0]) / 1e6 : 0
}
