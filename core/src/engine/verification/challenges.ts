import type { ChallengeExpression, Pattern, ProviderRow } from '../providers/index.ts'

/** The longest challenge that a handshake signs. */
const SIGNED_CHALLENGE_MAX = 128

const CHALLENGE = /^[A-Za-z0-9+/=_.~-]{1,128}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a handshake may sign this text, which the requester chooses. */
export function isSignableChallenge(text: string): boolean {
  return CHALLENGE.test(text)
}

/** Whether a provider's handshakes would sign a text for any requester. */
export type SignsForAnybody = (text: string) => boolean

/** The check for texts that a provider's handshakes sign with the signing secret; undefined when they sign nothing. */
export function signedChallenges(provider: ProviderRow | undefined): SignsForAnybody | undefined {
  const signing = (provider?.handshakes ?? []).filter(({ answer }) => {
    const made = [answer?.text, ...Object.values(answer?.headers ?? {}), ...Object.values(answer?.json ?? {})]
    return made.some((part) => typeof part === 'object' && isSigned(part))
  })
  if (signing.length === 0) return undefined
  const patterns = signing.flatMap(({ trigger }) =>
    [trigger.query, trigger.header, trigger.json].flatMap((part) => Object.values(part ?? {})),
  )
  return (text) => patterns.some((pattern) => isPosedAs(pattern, text))
}

/** Whether a text is a challenge of the form that a pattern names. */
export function isPosedAs(pattern: Pattern, text: string): boolean {
  if ('hex' in pattern) {
    const [from, to] = pattern.hex
    return text.length >= from && text.length <= to && /^[0-9a-f]+$/.test(text)
  }
  if ('uuid' in pattern) return UUID.test(text)
  return 'challenge' in pattern && isSignableChallenge(text)
}

function isSigned(expression: ChallengeExpression): boolean {
  return Array.isArray(expression) ? expression.some(isSigned) : 'hmac' in expression
}

/**
 * Whether a handshake would sign this message for any requester. Its signature then proves nothing.
 *
 * @param pieces of the message, one after the other
 */
export function isChallengeMessage(pieces: readonly Uint8Array[], signs: SignsForAnybody): boolean {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return length <= SIGNED_CHALLENGE_MAX && signs(Buffer.concat(pieces).toString('latin1'))
}
