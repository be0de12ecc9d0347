import { existsSync, readFileSync } from 'node:fs'

/**
 * The bystander, in its own worker, so that the attacker's event loop does not delay it. It captures and reads all the
 * time, calls the bare echo, and looks whether the service's event loop turns. To the message `account` it answers with the results since the last one, and to a
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
  /** The most processor time that the service's event loop used before it saw a look at it; 0 where it is unknown. */
  readonly worstBusyMs: number
  /** How much longer the service's event loop took than on a processor of its own; 1 where it is unknown. */
  readonly stretch: number
  /** Worst answer of the bare echo in the same time. */
  readonly echoWorstMs: number
  /** Statuses other than 200, and failures. */
  readonly wrong: readonly string[]
}

declare const self: Worker

let times: number[] = []
/** Process of the service, and the times of its event loop at the last account. */
let service = 0
let before = timesOf(0)
let worstBusyMs = 0
let echoWorstMs = 0
let wrong: string[] = []
/** Rounds of calls until an answer is due. */
let roundsLeft = 0

self.onmessage = ({ data }: MessageEvent<Innocent | 'account' | number>) => {
  if (typeof data === 'number') roundsLeft = data
  else if (data === 'account') {
    postMessage(account())
    before = timesOf(service)
    times = []
    worstBusyMs = 0
    echoWorstMs = 0
    wrong = []
  } else {
    service = data.pid
    before = timesOf(service)
    void live(data)
    void watch(data)
  }
}

function account(): Account {
  const sorted = times.toSorted((a, b) => a - b)
  const { ranMs, waitedMs } = timesOf(service)
  return {
    stretch: 1 + (waitedMs - before.waitedMs) / Math.max(1, ranMs - before.ranMs),
    worstMs: sorted.at(-1) ?? 0,
    medianMs: sorted[sorted.length >> 1] ?? 0,
    worstBusyMs,
    echoWorstMs,
    wrong,
  }
}

async function live({ baseUrl, captureUrl, echoUrl, key, address, pauseMs }: Innocent): Promise<void> {
  const headers = { 'X-Forwarded-For': address }
  for (;;) {
    await timed(() => fetch(captureUrl, { method: 'POST', headers, body: '{"innocent":true}' }))
    await timed(() =>
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

async function timed(call: () => Promise<Response>): Promise<void> {
  const startedAt = performance.now()
  try {
    // An idle connection may be closed just when it is used again: clients then open another (RFC 9112 §9.5).
    const answer = await call().catch(call)
    await answer.bytes()
    if (answer.status !== 200) wrong.push(String(answer.status))
  } catch (error) {
    wrong.push(String(error))
  }
  times.push(performance.now() - startedAt)
}

/** Pause between looks at the event loop: a turn that takes longer is seen. */
const LOOK_MS = 20

/**
 * Looks at the service's event loop all the time, by a request that it only has to answer. The time of PostgreSQL, and
 * the time in which this thread gets no processor, do not count: the service may use both for others.
 */
async function watch({ baseUrl, pid }: Innocent): Promise<void> {
  const { hostname, port } = new URL(baseUrl)
  let seen = () => {}
  const open = () =>
    Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: () => seen(), close: () => seen() },
    }).catch(() => undefined)
  let socket = await open()
  for (;;) {
    if (socket === undefined || socket.readyState !== 1) socket = await open()
    const [busy, waited] = [timesOf(pid), timesOf('thread-self')]
    const { promise, resolve } = Promise.withResolvers<void>()
    seen = resolve
    if (socket === undefined) resolve()
    else socket.write('GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n')
    await promise
    const passedMs = timesOf(pid).ranMs - busy.ranMs - (timesOf('thread-self').waitedMs - waited.waitedMs)
    worstBusyMs = Math.max(worstBusyMs, passedMs)
    await Bun.sleep(LOOK_MS)
  }
}

/**
 * Processor time of a thread, and its time without a processor although it had work. For a process, the first
 * thread is read, which runs its event loop.
 */
function timesOf(task: number | 'thread-self') {
  const path = `/proc/${task}/schedstat`
  const [ran, waited] = existsSync(path) ? readFileSync(path, 'latin1').split(' ') : []
  return { ranMs: Number(ran ?? 0) / 1e6, waitedMs: Number(waited ?? 0) / 1e6 }
}
