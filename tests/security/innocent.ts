/**
 * The innocent bystander, a worker of its own: what the attack costs the attacker's event loop must not count. It captures and
 * reads, over and over; asked for it, it tells how long its worst answer took since it was asked before, and what went wrong.
 */

/** What the worker is started with. */
export interface Innocent {
  readonly baseUrl: string
  readonly captureUrl: string
  readonly key: string
  readonly address: string
}

/** What it says when it is asked. */
export interface Account {
  readonly worstMs: number
  readonly medianMs: number
  /** Statuses other than 200, and failures. */
  readonly wrong: readonly string[]
}

const PAUSE_MS = 60

declare const self: Worker

let times: number[] = []
let wrong: string[] = []

self.onmessage = ({ data }: MessageEvent<Innocent | 'account'>) => {
  if (data === 'account') {
    const sorted = times.sort((a, b) => a - b)
    const account: Account = {
      worstMs: sorted.at(-1) ?? 0,
      medianMs: sorted[sorted.length >> 1] ?? 0,
      wrong,
    }
    times = []
    wrong = []
    postMessage(account)
  } else void live(data)
}

async function live({ baseUrl, captureUrl, key, address }: Innocent): Promise<void> {
  const headers = { 'X-Forwarded-For': address }
  for (;;) {
    await timed(() => fetch(captureUrl, { method: 'POST', headers, body: '{"innocent":true}' }))
    await timed(() =>
      fetch(`${baseUrl}/api/v1/me`, { headers: { ...headers, Authorization: `Bearer ${key}` } }),
    )
    await Bun.sleep(PAUSE_MS)
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
