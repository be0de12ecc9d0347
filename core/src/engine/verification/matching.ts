import type { HashName, SchemeRow } from '../providers/index.ts'
import { isChallengeMessage } from './challenges.ts'
import { decodeSignature } from './encodings.ts'
import type { Evidence } from './evidence.ts'
import type { Key } from './keys.ts'
import { type Matcher, matcherFor } from './macs.ts'
import type { PreparedScheme } from './prepare.ts'
import { withoutPort, withPort } from './publicUrl.ts'
import type { Candidate } from './signatures.ts'
import { timestampName, timestampText } from './timestamps.ts'

/** The missing part of a request without which its signature cannot be checked, in words. */
export interface Missing {
  readonly missing: string
}

/**
 * Matches the candidates of a request. Candidates of one timestamp share their messages.
 *
 * @returns takes a candidate; returns whether it is right, or the part of the request that is missing
 */
export function candidateMatcher(
  scheme: PreparedScheme,
  key: Key,
  evidence: Evidence,
): (candidate: Candidate) => boolean | Missing {
  const known: { readonly of: Candidate; readonly matchers: readonly Matcher[] | Missing }[] = []
  const matchersOf = (candidate: Candidate) => {
    const same = known.find(({ of }) => of.hash === candidate.hash && of.timestamp === candidate.timestamp)
    if (same !== undefined) return same.matchers
    const matchers = matchersFor(scheme, key, candidate, evidence)
    known.push({ of: candidate, matchers })
    return matchers
  }
  return (candidate) => {
    const matchers = matchersOf(candidate)
    if ('missing' in matchers) return matchers
    const signature = decodeSignature(candidate.text, scheme.row.signature.encoding)
    return signature !== undefined && matchers.some((matches) => matches(signature))
  }
}

/**
 * A matcher for every message that may have been signed: templates times spellings of the URL.
 *
 * @param hash instead of the scheme's own
 */
export function matchersFor(
  scheme: PreparedScheme,
  key: Key,
  candidate: Pick<Candidate, 'timestamp' | 'hash'>,
  evidence: Evidence,
  hash: HashName = hashOf(scheme.row, candidate),
): readonly Matcher[] | Missing {
  const { mac } = scheme.row
  if (mac === 'jwt' || mac === 'fetched') return []
  const timestamp = timestampText(scheme.row.timestamp, candidate, evidence)
  const secret = key.kind === 'secret' ? key.bytes : undefined
  const matchers: Matcher[] = []
  for (const variant of urlVariants(scheme.row, evidence)) {
    for (const template of scheme.messages) {
      const message = template({ scheme: scheme.row, evidence: variant, timestamp, secret })
      if ('missing' in message) return { missing: missingName(scheme.row, message.missing) }
      if (scheme.signedForAnybody && isChallengeMessage(message.pieces, scheme.signedForAnybody))
        matchers.push(() => false)
      else matchers.push(matcherFor(mac, hash, key, message.pieces))
    }
  }
  return matchers
}

function missingName({ timestamp }: SchemeRow, missing: string): string {
  return missing === 'timestamp' && timestamp !== undefined ? timestampName(timestamp) : missing
}

function urlVariants({ urlVariants }: SchemeRow, evidence: Evidence): readonly Evidence[] {
  if (urlVariants === undefined) return [evidence]
  const urls = new Set(
    urlVariants.map((variant) => {
      if (variant === 'with-port') return withPort(evidence.url)
      return variant === 'without-port' ? withoutPort(evidence.url) : evidence.url
    }),
  )
  return [...urls].map((url) => (url === evidence.url ? evidence : evidence.with({ url })))
}

/** The digest of a signature: that of the scheme, or the one that its prefix names. */
function hashOf({ hash }: SchemeRow, candidate: Pick<Candidate, 'hash'>): HashName {
  if (candidate.hash !== undefined) return candidate.hash
  return hash === undefined || hash === 'from-prefix' ? 'sha256' : hash
}
