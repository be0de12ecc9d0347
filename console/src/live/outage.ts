import { Store } from './store.ts'

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

/**
 * Makes a call of the service, and notes whether it answers.
 *
 * @throws the error of the call. One that the page itself gave up says nothing about the service.
 */
export async function watched<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await call()
    hasAnswered()
    return answer
  } catch (error) {
    const isGivenUp = error instanceof DOMException && error.name === 'AbortError'
    if (!isGivenUp) hasNotAnswered()
    throw error
  }
}
