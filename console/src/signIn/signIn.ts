/** Credential of a browser: a pasted key, or the token of a sign-in link, which works once. */
export type Credential = { readonly key: string } | { readonly link: string }

/**
 * Signs this browser in.
 *
 * @returns null, or the reason of the refusal, in the service's words
 */
export async function signIn(credential: Credential): Promise<string | null> {
  try {
    const answer = await fetch('/console/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(credential),
    })
    if (answer.ok) return null
    const problem: unknown = await answer.json().catch(() => null)
    if (typeof problem === 'object' && problem !== null && 'detail' in problem) return String(problem.detail)
    return `The service answered ${answer.status}.`
  } catch {
    return 'The service cannot be reached. Check your connection and try again.'
  }
}

/** Ends the session of this browser, here and on the service. */
export async function signOut(): Promise<void> {
  await fetch('/console/session', { method: 'DELETE' })
}
