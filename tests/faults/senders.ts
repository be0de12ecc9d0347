import type { Ledger } from './ledger.ts'

/** Timeout of a sender for an answer, like that of real ones. */
const ANSWER_MILLISECONDS_MAX = 20_000
/** Pause after a refusal, so that a service that is down is not flooded with connection attempts. */
const BACK_OFF_MILLISECONDS = 20

/** Running senders. */
export interface Senders {
  /** Stops, and resolves when the captures in flight are answered. */
  stop(): Promise<void>
}

/**
 * Sends numbered captures continuously, several at once, and records them in the ledger.
 *
 * @param captureUrls called before every capture, since gateways come and go
 */
export function startSenders(
  ledger: Ledger,
  captureUrls: () => readonly string[],
  { parallel, pauseMs }: { parallel: number; pauseMs: number },
): Senders {
  let stopped = false
  const send = async (): Promise<void> => {
    while (!stopped) {
      const urls = captureUrls()
      const number = ledger.nextNumber()
      const url = urls[number % Math.max(1, urls.length)]
      const answer = url === undefined ? 'no answer' : await sendOne(url, number)
      if (answer === 200) ledger.acknowledged(number)
      else ledger.refused(number, answer)
      await Bun.sleep(answer === 200 ? pauseMs : BACK_OFF_MILLISECONDS)
    }
  }
  const all = Promise.all(Array.from({ length: parallel }, send))
  return {
    async stop() {
      stopped = true
      await all
    },
  }
}

async function sendOne(url: string, number: number): Promise<number | 'no answer'> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ number }),
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 'no answer'
  }
}
