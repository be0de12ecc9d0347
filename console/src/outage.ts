import { Store } from './store.ts'

const RETRY_MS = { first: 1_000, max: 15_000 } as const

/**
 * The wait before the next call of the service, in milliseconds: twice as long after each failure.
 *
 * @param failures in a row, before the last one
 */
export function reconnectMs(failures: number): number {
  return Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** failures)
}

/** Whether this browser is signed in. A 401 means that it is not. */
export const session = new Store<'in' | 'out'>('in')

export function hearStatus(status: number | undefined): void {
  if (status === 401 && session.get() === 'in') session.set('out')
}

/** Since when the service has not answered, in milliseconds since 1970; null while it answers. */
export const outage = new Store<number | null>(null)

/** Call when the service answers anything, even a refusal. */
export function hasAnswered(): void {
  if (outage.get() !== null) outage.set(null)
}

/** Call when a connection to the service fails. */
export function hasNotAnswered(): void {
  if (outage.get() === null) outage.set(Date.now())
}

/** Statuses with which a proxy says that it does not reach the service. The service itself sends JSON with them. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

function isOfProxy({ headers, status }: Response): boolean {
  return PROXY_STATUSES.has(status) && !/\bjson\b/.test(headers.get('content-type') ?? '')
}

/**
 * Makes a call of the service, and notes whether it answers.
 *
 * @throws the error of the call. One that the page itself gave up says nothing about the service.
 */
export async function watched(call: () => Promise<Response>): Promise<Response> {
  try {
    const answer = await call()
    if (isOfProxy(answer)) hasNotAnswered()
    else hasAnswered()
    return answer
  } catch (error) {
    const isGivenUp = error instanceof DOMException && error.name === 'AbortError'
    if (!isGivenUp) hasNotAnswered()
    throw error
  }
}
