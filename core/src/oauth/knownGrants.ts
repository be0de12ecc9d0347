import type { Services } from '../api/services.ts'
import { findLiveDigests } from './queries.ts'
import { codeDigest, readRefreshToken } from './tokens.ts'

/**
 * Filters presented codes and refresh tokens to those that can be exchanged, in one query, without using them. The
 * counterpart of `knownKeys` for the token endpoint.
 *
 * @param presented as clients sent them
 */
export async function knownGrants(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  const codes = digestsOf(presented, codeDigest)
  const tokens = digestsOf(presented, (text) => readRefreshToken(text)?.sha256)
  if (codes.length + tokens.length === 0) return new Set()
  const digests = { codes: codes.map(({ sha256 }) => sha256), tokens: tokens.map(({ sha256 }) => sha256) }
  const live = await findLiveDigests(db, digests, clock.now())
  return new Set(
    [...codes, ...tokens]
      .filter(({ sha256 }) => live.some((one) => one.equals(sha256)))
      .map(({ text }) => text),
  )
}

function digestsOf(presented: ReadonlySet<string>, digest: (text: string) => Buffer | undefined) {
  return [...presented].flatMap((text) => {
    const sha256 = digest(text)
    return sha256 === undefined ? [] : [{ text, sha256 }]
  })
}
