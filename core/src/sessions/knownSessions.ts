import type { Services } from '../api/services.ts'
import { findLiveTokens } from './queries.ts'
import { tokenFingerprint } from './token.ts'

/**
 * Tells which of the presented tokens are of live sessions, in one look, and takes nothing from their budgets: like `knownKeys`, for
 * browsers.
 *
 * @param presented what cookies hold
 */
export async function knownSessions(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  const byFingerprint = new Map(
    [...presented].map((token) => [tokenFingerprint(token).toString('hex'), token]),
  )
  const live = await findLiveTokens(
    db,
    [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex')),
    clock.now(),
  )
  return new Set(live.flatMap((sha256) => byFingerprint.get(sha256.toString('hex')) ?? []))
}
