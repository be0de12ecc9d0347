import type { Caller } from './context.ts'
import { DomainError } from './errors.ts'

/**
 * Admits only a browser that signed in by a link. A leaked key can therefore neither create keys nor outlive its own
 * revocation.
 *
 * @throws DomainError `forbidden`
 */
export function requireOwner({ session }: Caller): void {
  if (session?.role === 'owner') return
  throw new DomainError(
    'forbidden',
    "Only the workspace's owner may do this: sign in to the console by a link.",
  )
}
