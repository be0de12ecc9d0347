import type { Selectable } from 'kysely'
import type { ActionsTable } from '../platform/db/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'

/** For so long after a rotation the previous secret signs too. */
const DUAL_SECRET_HOURS = 24

type SigningColumns = Pick<
  Selectable<ActionsTable>,
  'signingSecret' | 'signingSecretSetAt' | 'previousSigningSecret' | 'previousSigningSecretUntil'
>

/**
 * The columns that a written `signingSecret` changes: omitted leaves it, '' stops signing, a value
 * sets or rotates it. Of two rotations within 24 h only the latest old secret signs; a secret that was removed
 * and set again has no old one.
 */
export function signingColumns(
  secret: string | undefined,
  stored: Pick<Selectable<ActionsTable>, 'signingSecret'> | undefined,
  {
    secrets,
    workspaceId,
    now,
  }: { readonly secrets: SecretBox; readonly workspaceId: string; readonly now: Date },
): Partial<SigningColumns> {
  if (secret === undefined) return {}
  if (secret === '') {
    return {
      signingSecret: null,
      signingSecretSetAt: null,
      previousSigningSecret: null,
      previousSigningSecretUntil: null,
    }
  }
  const columns = { signingSecret: secrets.seal(secret, workspaceId), signingSecretSetAt: now }
  const previous = stored?.signingSecret ?? null
  // Setting the same secret again is no rotation: the one before it stays as it is.
  if (previous !== null && secrets.open(previous, workspaceId) === secret) return columns
  return {
    ...columns,
    previousSigningSecret: previous,
    previousSigningSecretUntil:
      previous === null ? null : new Date(now.getTime() + DUAL_SECRET_HOURS * 3_600_000),
  }
}
