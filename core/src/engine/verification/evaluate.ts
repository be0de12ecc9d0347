import type { CapturedRequest, Verification } from '../message/index.ts'
import { SIGNATURE_HEADERS } from '../providers/index.ts'
import type { Verdict } from '../words/index.ts'
import { likelyCause } from './causes.ts'
import { type CheckResult, checkScheme } from './check.ts'
import { Evidence } from './evidence.ts'
import type { PreparedScheme, PreparedVerification } from './prepare.ts'
import { findSignature, placeName } from './signatures.ts'
import { ageWords, staleWords } from './timestamps.ts'

const NOTE_LENGTH_MAX = 300

/** A note: one sentence of at most 300 characters, cut at a character boundary. */
function noteOf(text: string): string {
  const started = text.startsWith('the ') ? `The ${text.slice(4)}` : text
  const sentence = started.endsWith('.') ? started : `${started}.`
  if (sentence.length <= NOTE_LENGTH_MAX) return sentence
  return `${[...sentence.slice(0, NOTE_LENGTH_MAX - 2)].slice(0, -1).join('')}…`
}

/**
 * Verifies a captured request, at receipt.
 *
 * The first scheme whose signature is present decides, or the next one if the row says so (`onFail`). Never throws.
 * Takes time proportional to the body at most; everything else that it tries is bounded.
 *
 * @param publicUrl the public URL that the sender called: capture URL, suffix and query as received
 * @returns null when there is nothing to check: no scheme, or a needed secret is not set
 */
export function evaluate(
  prepared: PreparedVerification,
  request: CapturedRequest,
  publicUrl: string,
): Verification | null {
  if (prepared.schemes.length === 0) return null
  if (request.bodyTruncated) return { verdict: 'unverifiable', note: 'body over the size cap' }
  try {
    return evaluateSchemes(prepared, new Evidence(request, publicUrl))
  } catch {
    // An error of ours must not lose a capture. By the tests, no input gets here.
    return { verdict: 'unverifiable', note: 'The check itself broke down.' }
  }
}

function evaluateSchemes(prepared: PreparedVerification, evidence: Evidence): Verification {
  let failed: { scheme: PreparedScheme; result: CheckResult } | undefined
  for (const scheme of prepared.schemes) {
    const result = checkScheme(scheme, evidence)
    if (result.kind === 'absent') continue
    if (result.kind === 'matches' || result.kind === 'unverifiable') return verdictOf(result)
    failed ??= { scheme, result }
    if (scheme.row.onFail !== 'next') break
  }
  if (failed === undefined) return wrongLength(prepared, evidence) ?? unsigned(prepared, evidence)
  return explained(prepared, failed.scheme, failed.result, evidence)
}

function verification(verdict: Verdict, text: string): Verification {
  return { verdict, note: noteOf(text) }
}

function verdictOf(result: CheckResult & { kind: 'matches' | 'unverifiable' }): Verification {
  if (result.kind === 'unverifiable') return verification('unverifiable', result.reason)
  const age = result.ageSeconds === undefined ? '' : `; timestamp ${ageWords(result.ageSeconds)}`
  const partial = result.partial === undefined ? '' : `; ${result.partial}`
  return verification('verified', `${result.where} matches${age}${partial}`)
}

function explained(
  prepared: PreparedVerification,
  scheme: PreparedScheme,
  result: CheckResult,
  evidence: Evidence,
): Verification {
  if (result.kind === 'stale') {
    const { age, limit } = staleWords(result.ageSeconds, result.toleranceSeconds)
    return verification(
      'failed',
      `${result.where} matches, but its timestamp is ${age}; at most ${limit} is accepted`,
    )
  }
  if (result.kind !== 'differs') return verification('failed', 'The signature does not match')
  const cause = result.isWeak === true ? undefined : likelyCause(prepared, scheme, result.item ?? evidence)
  if (cause !== undefined) return verification('failed', `${result.where} does not match: ${cause}`)
  if (result.reason !== undefined) return verification('failed', `${result.where}: ${result.reason}`)
  const isSecretItself = scheme.row.mac === 'token' || scheme.row.mac === 'basic'
  const why = isSecretItself
    ? 'the sender has another one'
    : 'it was made with other credentials, or what was signed changed on the way'
  return verification('failed', `${result.where} does not match: ${why}`)
}

/** If schemes are distinguished by the length of the signature, one of another length was cut off. */
function wrongLength({ schemes }: PreparedVerification, evidence: Evidence): Verification | undefined {
  const lengths = schemes.flatMap(({ row }) => {
    const found = row.when?.signatureLength === undefined ? undefined : findSignature(row.signature, evidence)
    const length = found?.values[0]?.length
    return found === undefined || length === undefined
      ? []
      : [{ where: found.where, length, wanted: row.when?.signatureLength }]
  })
  const [first] = lengths
  if (first === undefined) return undefined
  const wanted = lengths.map((each) => each.wanted).join(' or ')
  return verification('failed', `${first.where}: it has ${first.length} characters, not ${wanted}`)
}

/** Names the places that were searched and, if another provider's signature is there, its header. */
function unsigned({ schemes }: PreparedVerification, evidence: Evidence): Verification {
  const names = schemes.map(({ row }) => placeName(row.signature).replace(/^the /, ''))
  const places = [...new Set(names)].join(', ')
  const known = new Set(places.toLowerCase().split(', '))
  const other = evidence.request.headers.find(
    ([name]) => SIGNATURE_HEADERS.has(name.toLowerCase()) && !known.has(name.toLowerCase()),
  )?.[0]
  const hint = other === undefined ? '' : `, but ${other} is there`
  return verification('unsigned', `The request carries no ${places}${hint}`)
}
