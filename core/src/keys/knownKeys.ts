import type { Services } from '../api/services.ts'
import { fingerprint, isKeyShaped } from './key.ts'

/**
 * Filters presented keys to the valid ones, in one query, without taking anything from their budgets. Used for
 * throttled callers, which must not cause a query each.
 *
 * @param presented as clients sent them
 * @returns the keys that are neither revoked nor expired; an agent's token ends by itself, too
 */
export async function knownKeys(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  const byFingerprint = new Map(
    [...presented].filter(isKeyShaped).map((key) => [fingerprint(key).toString('hex'), key]),
  )
  if (byFingerprint.size === 0) return new Set()
  const rows = await db
    .selectFrom('apiKeys')
    .select('sha256')
    .where(
      'sha256',
      'in',
      [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex')),
    )
    .where('revokedAt', 'is', null)
    .where((where) => where.or([where('expiresAt', 'is', null), where('expiresAt', '>', clock.now())]))
    .where((where) =>
      where.or([where('tokenExpiresAt', 'is', null), where('tokenExpiresAt', '>', clock.now())]),
    )
    .execute()
  const known = new Set<string>()
  for (const { sha256 } of rows) {
    const key = byFingerprint.get(sha256.toString('hex'))
    if (key !== undefined) known.add(key)
  }
  return known
}
