import type { Services } from '../api/services.ts'
import { fingerprint, isKeyShaped } from './key.ts'

/**
 * Tells which of the presented keys are good, in one look, and takes nothing from their budgets: for callers who are made to wait
 * before they may cost the database a look of their own.
 *
 * @param presented as clients sent them
 * @returns those that are of a key that was not revoked and has not expired
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
    .execute()
  const known = new Set<string>()
  for (const { sha256 } of rows) {
    const key = byFingerprint.get(sha256.toString('hex'))
    if (key !== undefined) known.add(key)
  }
  return known
}
