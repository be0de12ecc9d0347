import { HEADER_NAME } from '../conditions/index.ts'
import { type InputIssue, issue } from '../issues.ts'
import { type ChallengeExpression, findProvider } from '../providers/index.ts'
import { prepareVerification } from './prepare.ts'
import {
  MANUAL_DEFAULTS,
  type ManualEncoding,
  type SignatureAlgorithm,
  schemeRowsOf,
  type VerificationSettings,
} from './settings.ts'

/** The members of an endpoint's input for verification. `''` clears; undefined changes nothing. */
export interface VerificationInput {
  readonly provider?: string | undefined
  readonly signingSecret?: string | undefined
  readonly handshakeToken?: string | undefined
  readonly signatureHeader?: string | undefined
  readonly signatureAlgorithm?: SignatureAlgorithm | '' | undefined
  readonly signatureEncoding?: ManualEncoding | '' | undefined
  readonly signaturePrefix?: string | undefined
}

export const NO_VERIFICATION: VerificationSettings = {
  provider: null,
  signingSecret: null,
  handshakeToken: null,
  manual: null,
}

/** The settings after an input is saved. */
export function changedSettings(
  stored: VerificationSettings,
  input: VerificationInput,
): VerificationSettings {
  return {
    provider: changed(stored.provider, input.provider),
    signingSecret: changed(stored.signingSecret, input.signingSecret),
    handshakeToken: changed(stored.handshakeToken, input.handshakeToken),
    manual: changedManual(stored.manual, input),
  }
}

function changed(stored: string | null, given: string | undefined): string | null {
  return given === undefined ? stored : given === '' ? null : given
}

function changedManual(
  stored: VerificationSettings['manual'],
  input: VerificationInput,
): VerificationSettings['manual'] {
  const header = changed(stored?.header ?? null, input.signatureHeader)
  if (header === null) return null
  const { algorithm, encoding, prefix } = stored ?? MANUAL_DEFAULTS
  return {
    header,
    algorithm:
      input.signatureAlgorithm === '' ? MANUAL_DEFAULTS.algorithm : (input.signatureAlgorithm ?? algorithm),
    encoding:
      input.signatureEncoding === '' ? MANUAL_DEFAULTS.encoding : (input.signatureEncoding ?? encoding),
    prefix: input.signaturePrefix ?? prefix,
  }
}

/**
 * Issues of the verification members of an endpoint's input: unknown slugs, manual members that contradict each other,
 * secrets that are not keys for the scheme. A member that equals the stored one is not checked again.
 *
 * @param stored the present settings, secrets decrypted; {@link NO_VERIFICATION} for a new endpoint
 */
export function checkSettings(stored: VerificationSettings, input: VerificationInput): InputIssue[] {
  return [...providerIssues(stored, input), ...manualIssues(stored, input), ...keyIssues(stored, input)]
}

function providerIssues(stored: VerificationSettings, { provider }: VerificationInput): InputIssue[] {
  if (provider === undefined || provider === '' || provider === stored.provider) return []
  if (findProvider(provider) !== undefined) return []
  const detail = 'provider is not a slug of the provider catalog, GET /api/v1/providers.'
  return [issue(['provider'], 'unknown_value', detail)]
}

const MANUAL_MEMBERS = ['signatureAlgorithm', 'signatureEncoding', 'signaturePrefix'] as const

/** Prefix of a signature in a header value: visible ASCII. */
const PREFIX = /^[\x20-\x7e]*$/

function manualIssues(stored: VerificationSettings, input: VerificationInput): InputIssue[] {
  const issues: InputIssue[] = []
  const header = changed(stored.manual?.header ?? null, input.signatureHeader)
  if (header !== null && header !== stored.manual?.header && !HEADER_NAME.test(header)) {
    issues.push(issue(['signatureHeader'], 'bad_format', 'signatureHeader must be the name of a header.'))
  }
  if (header === null) issues.push(...headlessIssues(input))
  if (input.signaturePrefix !== undefined && !PREFIX.test(input.signaturePrefix)) {
    const detail = 'signaturePrefix may hold visible ASCII characters only.'
    issues.push(issue(['signaturePrefix'], 'bad_format', detail))
  }
  return issues
}

/** Issues of manual members without a header, which a manual scheme needs. */
function headlessIssues(input: VerificationInput): InputIssue[] {
  const given = MANUAL_MEMBERS.filter((member) => (input[member] ?? '') !== '')
  if (given.length === 0) return []
  if (input.signatureHeader === '') {
    const contradicts = `contradicts signatureHeader "", which goes back to the provider's scheme.`
    return given.map((member) => issue([member], 'not_allowed', `${member} ${contradicts}`))
  }
  return [issue(['signatureHeader'], 'required', `signatureHeader is required with ${given.join(', ')}.`)]
}

/** Refuses a key that no applicable scheme can use. */
function keyIssues(stored: VerificationSettings, input: VerificationInput): InputIssue[] {
  const next = changedSettings(stored, input)
  const changes = changedMembers(stored, next)
  if (next.signingSecret === null || changes.length === 0) return []
  const keys = prepareVerification(next).schemes.map(({ key }) => key)
  const problem = keys.find((key) => 'problem' in key)
  if (problem === undefined || !('problem' in problem) || keys.some((key) => !('problem' in key))) return []
  if (prepareVerification(next).schemes.some(({ row }) => row.mac === 'fetched')) return []
  if (changes.includes('signingSecret')) {
    return [issue(['signingSecret'], 'bad_format', problem.problem)]
  }
  const detail = `The stored signing secret does not fit the new scheme: give signingSecret as well. ${problem.problem}`
  return changes.slice(0, 1).map((member) => issue([member], 'not_allowed', detail))
}

/**
 * Refuses a change by which a stored secret could be read: to a scheme whose requests have the signing secret itself, or
 * to a provider whose challenges are answered with the handshake token. A caller may write secrets without reading them,
 * so the secret must come with such a change.
 */
export function shownSecretIssues(stored: VerificationSettings, input: VerificationInput): InputIssue[] {
  const next = changedSettings(stored, input)
  const known = schemesOf(stored)
  const isShown = schemesOf(next).some((row) => /^(token|basic)$/.test(row.mac) && !known.includes(row))
  const isOther = next.provider !== stored.provider
  const issues: InputIssue[] = []
  if (stored.signingSecret !== null && input.signingSecret === undefined && isShown) {
    const detail =
      'Requests of the new scheme show the signing secret, which was stored for another: give signingSecret as well.'
    issues.push(issue([isOther ? 'provider' : 'signatureHeader'], 'not_allowed', detail))
  }
  const isAnswered = isOther && next.provider !== null && answersWithToken(next.provider)
  if (stored.handshakeToken !== null && input.handshakeToken === undefined && isAnswered) {
    const detail =
      'Challenges of the new provider are answered with the handshake token, which was stored for another: give handshakeToken as well.'
    issues.push(issue(['provider'], 'not_allowed', detail))
  }
  return issues
}

const schemesOf = ({ manual, provider }: VerificationSettings) =>
  schemeRowsOf(manual, provider === null ? undefined : findProvider(provider))

function answersWithToken(provider: string): boolean {
  const answers = (findProvider(provider)?.handshakes ?? []).map(({ answer }) => answer)
  return answers.some((answer) => {
    const texts = [
      answer?.text,
      ...Object.values(answer?.headers ?? {}),
      ...Object.values(answer?.json ?? {}),
    ]
    return texts.some((one) => typeof one === 'object' && isToken(one))
  })
}

/** Whether a text of the answer to a challenge contains the handshake token in plain. */
function isToken(text: ChallengeExpression): boolean {
  if (Array.isArray(text)) return text.some(isToken)
  return 'from' in text && text.from === 'handshakeToken'
}

function changedMembers(
  stored: VerificationSettings,
  next: VerificationSettings,
): (keyof VerificationInput)[] {
  const changes: (keyof VerificationInput)[] = []
  if (next.signingSecret !== stored.signingSecret) changes.push('signingSecret')
  if (next.provider !== stored.provider) changes.push('provider')
  if (next.manual?.header !== stored.manual?.header) changes.push('signatureHeader')
  if (next.manual?.algorithm !== stored.manual?.algorithm) changes.push('signatureAlgorithm')
  return changes
}
