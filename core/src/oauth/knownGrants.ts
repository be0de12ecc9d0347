import type { Services } from '../api/services.ts'
import { isKeyShaped } from '../keys/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { findGrantDigests, findLiveDigests, findTokenDigests } from './queries.ts'
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

/**
 * Filters presented codes, refresh tokens and access tokens to those of grants in this database. Used and former ones
 * count, too: only the database of their grant can tell what they are.
 *
 * @param presented as clients sent them
 */
export async function storedGrants(
  { db }: Pick<Services, 'db'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  const ofGrants = digestsOf(presented, (text) => codeDigest(text) ?? readRefreshToken(text)?.familySha256)
  const tokens = digestsOf(presented, (text) => (isKeyShaped(text) ? sha256Of(text) : undefined))
  const filter = async (asked: typeof tokens, find: typeof findTokenDigests) => {
    if (asked.length === 0) return []
    const digests = asked.map(({ sha256 }) => sha256)
    const stored = await find(db, digests)
    return asked.filter(({ sha256 }) => stored.some((one) => one.equals(sha256)))
  }
  const [grants, keys] = await Promise.all([
    filter(ofGrants, findGrantDigests),
    filter(tokens, findTokenDigests),
  ])
  return new Set([...grants, ...keys].map(({ text }) => text))
}

function digestsOf(presented: ReadonlySet<string>, digest: (text: string) => Buffer | undefined) {
  return [...presented].flatMap((text) => {
    const sha256 = digest(text)
    return sha256 === undefined ? [] : [{ text, sha256 }]
  })
}
