/**
 * The bystander, in its own worker, so that the attacker's event loop does not delay it. It captures and reads all the
 * time, and also calls the bare echo. To the message `account` it answers with the results since the last one.
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
}

/** Answer to the message `account`. */
export interface Account {
  readonly worstMs: number
  readonly medianMs: number
  /** Worst answer of the bare echo in the same time. */
  readonly echoWorstMs: number
  /** Statuses other than 200, and failures. */
  readonly wrong: readonly string[]
}

declare const self: Worker

let times: number[] = []
let echoWorstMs = 0
let wrong: string[] = []

self.onmessage = ({ data }: MessageEvent<Innocent | 'account'>) => {
  if (data === 'account') {
    const sorted = times.sort((a, b) => a - b)
    const account: Account = {
      worstMs: sorted.at(-1) ?? 0,
      medianMs: sorted[sorted.length >> 1] ?? 0,
      echoWorstMs,
      wrong,
    }
    times = []
    echoWorstMs = 0
    wrong = []
    postMessage(account)
  } else void live(data)
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
