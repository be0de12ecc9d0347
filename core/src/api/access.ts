import type { z } from 'zod'
import { KEY_SCOPES, type KeyScope } from '../engine/words/index.ts'
import type { Caller } from './context.ts'
import { DomainError, notFound } from './errors.ts'

/** The part of a declaration that decides which callers are admitted. */
export interface AccessDeclaration {
  readonly input: z.ZodObject
  /** Minimum scope. Default: `read` for operations that read, `write` for all others. */
  readonly scope?: KeyScope
  /**
   * Set if a key of one endpoint may call although the input names no endpoint: the procedure shows only that endpoint,
   * or nothing of any.
   */
  readonly narrows?: true
}

/**
 * Refuses a caller whose key lacks the permission, before anything is looked up. This is the only place that enforces
 * scopes: every procedure passes it, over every transport.
 *
 * @param least the scope that the procedure needs
 * @param named the endpoint that the raw input names, if any
 * @throws DomainError `forbidden`; `not_found` for another endpoint than the key's, as for one that does not exist
 */
export function admit(
  { scope, onlyEndpointId }: Pick<Caller, 'scope' | 'onlyEndpointId'>,
  {
    least,
    declaration,
    named,
  }: { least: KeyScope; declaration: AccessDeclaration; named: string | undefined },
): void {
  if (KEY_SCOPES.indexOf(scope) < KEY_SCOPES.indexOf(least)) {
    throw new DomainError('forbidden', `This key has the scope \`${scope}\`. This call needs \`${least}\`.`)
  }
  if (onlyEndpointId === null) return
  if (named !== undefined && 'endpointId' in declaration.input.shape) {
    if (named.toLowerCase() !== onlyEndpointId) throw notFound('endpoint')
    return
  }
  if (declaration.narrows !== true && !('endpointId' in declaration.input.shape)) {
    throw new DomainError(
      'forbidden',
      'This key is limited to one endpoint. This call concerns the whole workspace.',
    )
  }
}

/** The scope that a REST operation needs. */
export function scopeOf({
  method,
  scope,
}: {
  readonly method: string
  readonly scope?: KeyScope | undefined
}): KeyScope {
  return scope ?? (method === 'GET' ? 'read' : 'write')
}

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
