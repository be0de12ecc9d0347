import type { Ledger } from './ledger.ts'

/** A sender gives up on an answer after so long, as real ones do. */
const ANSWER_MILLISECONDS_MAX = 20_000
/** Pause after a refusal, so that a service that is down is not drowned in connection attempts. */
const BACK_OFF_MILLISECONDS = 20

/** Senders at work. */
export interface Senders {
  /** Ends when the captures that are under way are answered. */
  stop(): Promise<void>
}

/**
 * Sends numbered captures without a pause, several at once, and keeps the ledger.
 *
 * @param captureUrls where to, asked before every capture: gateways come and go
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
