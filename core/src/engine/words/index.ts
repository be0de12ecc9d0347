/**
 * States of an attempt, in the order of display. `Pending` until it has ended; `Interrupted` when it was cut off.
 */
export const ATTEMPT_STATES = [
  'Succeeded',
  'Failed',
  'Errored',
  'DeadLetter',
  'Pending',
  'Interrupted',
] as const

export type AttemptState = (typeof ATTEMPT_STATES)[number]

/** States of attempts that a receiver did not accept. */
export const FAILED_STATES = ['Failed', 'Errored', 'DeadLetter'] as const satisfies readonly AttemptState[]

/**
 * States of a request: that of its newest attempt, else `Pending` while one is queued, else the result of the capture.
 */
export const REQUEST_STATES = [...ATTEMPT_STATES, 'NotAttempted', 'Skipped'] as const

export type RequestState = (typeof REQUEST_STATES)[number]

/**
 * A stored word of a list.
 *
 * @throws TypeError for a word that this version does not know: any other word in its place would be false
 */
export function storedWord<Word extends string>(words: readonly Word[], text: string): Word {
  const word = words.find((known) => known === text)
  if (word === undefined) throw new TypeError(`The stored word "${text}" is none of ${words.join(', ')}.`)
  return word
}

/** A stored state of an attempt; {@link storedWord}. */
export function attemptStateOf(text: string): AttemptState {
  return storedWord(ATTEMPT_STATES, text)
}

/** A stored state of a request; {@link storedWord}. */
export function requestStateOf(text: string): RequestState {
  return storedWord(REQUEST_STATES, text)
}

/**
 * Results of a signature check. `unsigned`: no signature was there; `unverifiable`: nothing could be checked.
 */
export const VERDICTS = ['verified', 'failed', 'unsigned', 'unverifiable'] as const

export type Verdict = (typeof VERDICTS)[number]

/** A stored verdict. An unknown one, stored by a newer version, reads as `unverifiable`. */
export function verdictOf(text: string): Verdict {
  return VERDICTS.find((verdict) => verdict === text) ?? 'unverifiable'
}

/** Treatments of a capture whose event has arrived before: it is only marked, no action runs, or it is not stored. */
export const DEDUPE_MODES = ['mark', 'skip', 'discard'] as const

export type DedupeMode = (typeof DEDUPE_MODES)[number]

/** Values of the filter by verdict; `none` finds requests that were not checked. */
export const VERIFICATION_FILTERS = [...VERDICTS, 'none'] as const

export type VerificationFilter = (typeof VERIFICATION_FILTERS)[number]

/**
 * Scopes of keys: `read` only reads, `write` also changes things, `admin` also manages keys and reads the audit log.
 */
export const KEY_SCOPES = ['read', 'write', 'admin'] as const

export type KeyScope = (typeof KEY_SCOPES)[number]

/** Kinds of keys: made by an owner, or an agent's by OAuth. */
export const KEY_KINDS = ['key', 'oauth'] as const

export type KeyKind = (typeof KEY_KINDS)[number]

/** Fields, in lower case, that belong to one connection (RFC 9110 §7.6.1), or that every HTTP client writes itself. */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Names of headers that usually hold credentials: a list to begin `dropHeaders` with. */
export const CREDENTIAL_HEADERS = [
  'Authorization',
  'Proxy-Authorization',
  'Cookie',
  'X-Api-Key',
  'X-Auth-Token',
  'X-Access-Token',
  'X-Csrf-Token',
] as const
