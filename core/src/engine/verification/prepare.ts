import { findProvider, type ProviderRow, type SchemeRow } from '../providers/index.ts'
import { type SignsForAnybody, signedChallenges } from './challenges.ts'
import { type Key, type KeyProblem, keyFor } from './keys.ts'
import { compileMessage, type MessageTemplate, signsUrl } from './message.ts'
import { schemeRowsOf, type VerificationSettings } from './settings.ts'

/** The most bytes of an endpoint at once, and the rate of refill. */
const BYTES_MAX = 8 * 1_048_576
const BYTES_PER_SECOND = 1_048_576

/**
 * Budget of an endpoint for hashing in searches for causes. Bad signatures are always checked, but a flood of them gets
 * no explanations: it must not cost more than good captures do.
 */
class SearchBudget {
  #left = BYTES_MAX
  #refilledAt = 0

  /** The bytes that may be hashed now. */
  available(now: Date): number {
    const elapsed = now.getTime() - this.#refilledAt
    if (elapsed > 0) this.#left = Math.min(BYTES_MAX, this.#left + (elapsed / 1000) * BYTES_PER_SECOND)
    this.#refilledAt = now.getTime()
    return this.#left
  }

  spend(bytes: number): void {
    this.#left -= bytes
  }
}

/** One scheme of an endpoint, with everything computed that does not depend on a request. */
export interface PreparedScheme {
  readonly row: SchemeRow
  readonly key: Key | KeyProblem
  /** The messages that may have been signed; none for JWTs and for schemes that are never checked. */
  readonly messages: readonly MessageTemplate[]
  readonly signsUrl: boolean
  /** The texts that handshakes would sign with the same secret, if they sign. Such a signature proves nothing. */
  readonly signedForAnybody: SignsForAnybody | undefined
}

/** An endpoint's settings, ready to evaluate its captures. Holds keys: it must never be logged or serialised. */
export interface PreparedVerification {
  readonly settings: VerificationSettings
  readonly provider: ProviderRow | undefined
  /** Empty when there is nothing to check: no scheme, or a needed secret is not set. */
  readonly schemes: readonly PreparedScheme[]
  /** Budget for explaining failures. */
  readonly searchBudget: SearchBudget
}

/** Compiled messages by scheme. They do not depend on the endpoint, so they are compiled once. */
const messagesOf = new WeakMap<SchemeRow, readonly MessageTemplate[]>()

/**
 * Precomputes everything that `evaluate` needs, so that a capture costs little. Settings that cannot be used (an
 * unknown slug, a bad key) never throw: they make captures `unverifiable` or unchecked.
 */
export function prepareVerification(settings: VerificationSettings): PreparedVerification {
  const provider = settings.provider === null ? undefined : findProvider(settings.provider)
  const schemes = schemeRowsOf(settings.manual, provider).flatMap((row) =>
    preparedScheme(row, settings.signingSecret, signedChallenges(provider)),
  )
  return { settings, provider, schemes, searchBudget: new SearchBudget() }
}

function preparedScheme(
  row: SchemeRow,
  secret: string | null,
  signedForAnybody: SignsForAnybody | undefined,
): PreparedScheme[] {
  if (row.mac === 'fetched') {
    const problem = row.reason ?? 'the key would have to be fetched'
    return [{ row, key: { problem }, messages: [], signsUrl: false, signedForAnybody }]
  }
  if (secret === null || secret === '') return []
  const prefix = row.when?.secretPrefix
  if (prefix !== undefined && !secret.trim().startsWith(prefix)) return []
  return [
    {
      row,
      key: keyFor(row, secret),
      messages: compiledMessages(row),
      signsUrl: signsUrl(row.message ?? ''),
      signedForAnybody,
    },
  ]
}

function compiledMessages(row: SchemeRow): readonly MessageTemplate[] {
  const known = messagesOf.get(row)
  if (known !== undefined) return known
  const templates = row.mac === 'jwt' ? [] : [row.message ?? '', ...(row.messageAlternatives ?? [])]
  const compiled = templates.map(compileMessage)
  messagesOf.set(row, compiled)
  return compiled
}
