import { createHash, createHmac } from 'node:crypto'
import type { CapturedRequest, Verification } from '../message/index.ts'
import {
  type ChallengeExpression,
  type ChallengeTerm,
  type HandshakeRow,
  nodeAt,
  type Pattern,
} from '../providers/index.ts'
import { bytesOf, byteTextOf } from './byteText.ts'
import { isPosedAs, isSignableChallenge } from './challenges.ts'
import { Evidence } from './evidence.ts'
import { sameBytes } from './matching.ts'
import type { PreparedVerification } from './prepare.ts'
import { withoutQuery } from './publicUrl.ts'

/** The longest challenge that is echoed: real ones are a few hundred characters. */
export const CHALLENGE_LENGTH_MAX = 4096

/** The longest signing secret that is accepted from a challenge. */
const LEARNED_SECRET_LENGTH_MAX = 512

/** Answer instead of the endpoint's configured response. Echoed text is inert: plain text or JSON. */
export interface HandshakeAnswer {
  readonly status: number
  /** Null when there is no body. */
  readonly contentType: 'text/plain' | 'application/json' | null
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** The signing secret that the challenge delivered. The caller stores it, encrypted, if the endpoint has none. */
  readonly learnedSigningSecret?: string
}

/** Facts about the endpoint that a challenge may ask for. */
export interface ChallengedEndpoint {
  /** As for `evaluate`. */
  readonly publicUrl: string
  readonly captureRatePerMinute: number
}

interface Challenge {
  readonly evidence: Evidence
  readonly prepared: PreparedVerification
  readonly captureRatePerMinute: number
}

/**
 * The answer to a challenge of the endpoint's own provider. Null for a request that is not a challenge, and for a
 * challenge that cannot be answered because a secret is not set. Never throws.
 *
 * @param verification the verdict on this request: some providers test that bad signatures are refused
 */
export function handshakeAnswer(
  prepared: PreparedVerification,
  request: CapturedRequest,
  verification: Verification | null,
  { publicUrl, captureRatePerMinute }: ChallengedEndpoint,
): HandshakeAnswer | null {
  const handshakes = prepared.provider?.handshakes ?? []
  if (handshakes.length === 0 || request.bodyTruncated) return null
  const challenge = { evidence: new Evidence(request, publicUrl), prepared, captureRatePerMinute }
  const row = handshakes.find(({ trigger }) => poses(trigger, challenge.evidence))
  if (row === undefined) return null
  const refusal = refusedBy(row, challenge, verification)
  if (refusal !== undefined) return refusal
  if (row.signature?.required === true && verification?.verdict !== 'verified') return null
  return answerOf(row, challenge)
}

/** Whether a request matches the trigger of a challenge. */
function poses({ method, query, header, json }: HandshakeRow['trigger'], evidence: Evidence): boolean {
  return (
    evidence.request.method === method &&
    every(query, (name) => evidence.query(name)) &&
    every(header, (name) => evidence.header(name)) &&
    every(json, (path) => nodeAt(evidence.json(), path))
  )
}

function every(
  patterns: Readonly<Record<string, Pattern>> | undefined,
  read: (name: string) => unknown,
): boolean {
  return Object.entries(patterns ?? {}).every(([name, pattern]) => fits(pattern, read(name)))
}

function fits(pattern: Pattern, value: unknown): boolean {
  if ('absent' in pattern) return value === undefined
  if ('emptyList' in pattern) return Array.isArray(value) && value.length === 0
  if ('oneOf' in pattern) return pattern.oneOf.some((wanted) => wanted === value)
  if (typeof value !== 'string' || value === '' || value.length > CHALLENGE_LENGTH_MAX) return false
  return 'any' in pattern || isPosedAs(pattern, value)
}

/** The answer to a challenge whose token or signature is wrong. */
function refusedBy(
  row: HandshakeRow,
  challenge: Challenge,
  verification: Verification | null,
): HandshakeAnswer | undefined {
  const verdict = verification?.verdict
  if (row.signature !== undefined && (verdict === 'failed' || verdict === 'unsigned')) {
    return refusal(row.signature.refusalStatus)
  }
  if (row.token === undefined) return undefined
  const shown = termText(row.token.value, challenge)
  const token = challenge.prepared.settings.handshakeToken
  if (!row.token.required && (shown === undefined || token === null)) return undefined
  const isRight = shown !== undefined && token !== null && sameBytes(bytesOf(shown), Buffer.from(token))
  return isRight ? undefined : refusal(row.token.refusalStatus)
}

function refusal(status: number): HandshakeAnswer {
  return { status, contentType: null, headers: [], body: '' }
}

function answerOf(
  { answer, learnSigningSecret }: HandshakeRow,
  challenge: Challenge,
): HandshakeAnswer | null {
  if (answer === null) return null
  const headers = Object.entries(answer.headers ?? {}).map(
    ([name, expression]) => [name, headerValue(textOf(expression, challenge))] as const,
  )
  const json = Object.entries(answer.json ?? {}).map(
    ([name, value]) => [name, typeof value === 'number' ? value : textOf(value, challenge)] as const,
  )
  const text = answer.text === undefined ? '' : textOf(answer.text, challenge)
  const texts = [text, ...headers.map(([, value]) => value), ...json.map(([, value]) => value)]
  if (texts.includes(undefined)) return null
  const learned = learnSigningSecret === undefined ? undefined : learnedSecret(learnSigningSecret, challenge)
  return {
    status: answer.status,
    ...bodyOf(text ?? '', answer.json === undefined ? undefined : Object.fromEntries(json)),
    headers: headers.map(([name, value]) => [name, value ?? ''] as const),
    ...(learned === undefined ? {} : { learnedSigningSecret: learned }),
  }
}

function bodyOf(text: string, json: object | undefined): Pick<HandshakeAnswer, 'contentType' | 'body'> {
  if (json !== undefined) return { contentType: 'application/json', body: JSON.stringify(json) }
  return { contentType: text === '' ? null : 'text/plain', body: text }
}

/** A header value to echo; undefined if it could not be sent unchanged (controls, bytes above ASCII). */
function headerValue(text: string | undefined): string | undefined {
  return text !== undefined && /^[\x20-\x7e]*$/.test(text) ? text : undefined
}

function learnedSecret(term: ChallengeTerm, challenge: Challenge): string | undefined {
  const { signingSecret, manual } = challenge.prepared.settings
  // In a manual scheme the user sets the secret, and the provider's is not used.
  if (signingSecret !== null || manual !== null) return undefined
  const text = termText(term, challenge)
  return text !== undefined && text.length <= LEARNED_SECRET_LENGTH_MAX && /^[\x21-\x7e]+$/.test(text)
    ? text
    : undefined
}

/** The text of an expression as Unicode; undefined when a part is missing, such as a secret. */
function textOf(expression: ChallengeExpression, challenge: Challenge): string | undefined {
  const text = byteText(expression, challenge)
  return text === undefined ? undefined : bytesOf(text).toString('utf8')
}

function byteText(expression: ChallengeExpression, challenge: Challenge): string | undefined {
  if (Array.isArray(expression)) return concat(expression, challenge)
  if ('hmac' in expression) return mac(expression, challenge)
  if ('digest' in expression) {
    const text = concat(expression.of, challenge)
    return text === undefined
      ? undefined
      : createHash(expression.digest).update(bytesOf(text)).digest(expression.encoding)
  }
  return 'from' in expression || 'literal' in expression ? termText(expression, challenge) : undefined
}

function concat(parts: readonly ChallengeExpression[], challenge: Challenge): string | undefined {
  const texts = parts.map((part) => byteText(part, challenge))
  return texts.includes(undefined) ? undefined : texts.join('')
}

function mac(
  expression: Extract<ChallengeExpression, { hmac: unknown }>,
  challenge: Challenge,
): string | undefined {
  const secret = challenge.prepared.settings.signingSecret
  const text = termText(expression.of, challenge)
  if (secret === null || text === undefined || !isSignableChallenge(text)) return undefined
  const key = expression.key === 'sha1' ? createHash('sha1').update(secret).digest() : Buffer.from(secret)
  return createHmac(expression.hmac, key).update(bytesOf(text)).digest(expression.encoding)
}

function termText(
  term: ChallengeTerm,
  { evidence, prepared, captureRatePerMinute }: Challenge,
): string | undefined {
  if ('literal' in term) return term.literal
  switch (term.from) {
    case 'query':
      return evidence.query(term.name)
    case 'header':
      return evidence.header(term.name)
    case 'json':
      return evidence.jsonTexts(term.path)[0]
    case 'handshakeToken': {
      const token = prepared.settings.handshakeToken
      return token === null ? undefined : byteTextOf(token)
    }
    case 'captureRate':
      return String(captureRatePerMinute)
    case 'urlNoQuery':
      return byteTextOf(withoutQuery(evidence.url))
  }
}
