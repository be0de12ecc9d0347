import type { SchemeRow } from '../providers/index.ts'
import type { Evidence } from './evidence.ts'
import { checkJwt } from './jwt.ts'
import { type Checking, candidateMatcher } from './matching.ts'
import { leavesOutBody, readsBody, sha256Hex } from './message.ts'
import type { PreparedScheme } from './prepare.ts'
import { type Candidate, candidatesOf, type FoundSignature, findSignature, placeName } from './signatures.ts'
import { checkTimestamp, timestampText } from './timestamps.ts'

/** Result of checking one scheme. `where` is the place of the signature, in words. */
export type CheckResult =
  /** The scheme does not apply: there is no signature in its place. */
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'matches'
      readonly where: string
      readonly ageSeconds: number | undefined
      /** The part that the match does not prove, if any. */
      readonly partial: string | undefined
    }
  | {
      readonly kind: 'stale'
      readonly where: string
      readonly ageSeconds: number
      readonly toleranceSeconds: number
    }
  /** `reason` says what is wrong if no comparison was needed to find it. */
  | {
      readonly kind: 'differs'
      readonly where: string
      readonly reason: string | undefined
      /** A right signature would prove nothing of this request, so none is looked for. */
      readonly isWeak?: true
      /** The element whose signature is wrong, if each element of a list has its own. */
      readonly item?: Evidence
    }
  | { readonly kind: 'unverifiable'; readonly reason: string }

const ABSENT: CheckResult = { kind: 'absent' }

/** The most public-key signatures of a request that are checked, since each is slow. */
const PUBLIC_KEY_CANDIDATES_MAX = 3

/** The most elements that are checked. No provider sends more. */
const ITEMS_MAX = 100

/** Checks a request by one scheme. Bounded: few signatures, few messages, one pass over the body for each. */
export function checkScheme(scheme: PreparedScheme, evidence: Evidence): CheckResult {
  const { items } = scheme.row
  if (items === undefined || !evidence.isParsable) return checkOne(scheme, evidence)
  const count = evidence.itemCount(items)
  if (count > ITEMS_MAX) {
    return { kind: 'unverifiable', reason: `More than ${ITEMS_MAX} items are not checked.` }
  }
  return count < 2 ? checkOne(scheme, evidence) : checkItems(scheme, items, count, evidence)
}

/** Checks a list whose elements are signed separately. One wrong or missing signature fails it. */
function checkItems(scheme: PreparedScheme, list: string, count: number, evidence: Evidence): CheckResult {
  const checked = Array.from({ length: count }, (_, index) => {
    const item = evidence.ofItem(list, index)
    const result = checkOne(scheme, item)
    const where = evidence.ofItem(list, index).inItem(placeName(scheme.row.signature))
    return { item, result, where }
  })
  if (checked.every(({ result }) => result.kind === 'absent')) return ABSENT
  const wrong = checked.find(({ result }) => result.kind !== 'matches')
  if (wrong === undefined) return checked[0]?.result ?? ABSENT
  const { item, result, where } = wrong
  if (result.kind === 'absent') return { kind: 'differs', where, reason: 'not every item carries it', item }
  return result.kind === 'differs' ? { ...result, where, item } : result
}

function checkOne(scheme: PreparedScheme, evidence: Evidence): CheckResult {
  const { row, key } = scheme
  if (needsParsedBody(row) && !evidence.isParsable) {
    return { kind: 'unverifiable', reason: 'The body is too long to be read for what is signed.' }
  }
  const found = findSignature(row.signature, evidence)
  if (found === undefined || !holds(row, found, evidence)) return ABSENT
  if ('problem' in key) return { kind: 'unverifiable', reason: key.problem }
  const limit = row.every ? found.values.length : undefined
  const candidates = candidatesOf(row.signature, found.values, limit, found.names)
  const weakness = weaknessOf(row, evidence)
  if (weakness !== undefined) return { kind: 'differs', where: found.where, reason: weakness, isWeak: true }
  const reason = obstacle(row, found, candidates, evidence)
  if (reason !== undefined) return { kind: 'differs', where: found.where, reason }
  return row.mac === 'jwt'
    ? checkTokens({ scheme, key, evidence }, found, candidates)
    : checkMessages({ scheme, key, evidence }, found, candidates)
}

function needsParsedBody(row: SchemeRow): boolean {
  return !['header', 'query'].includes(row.signature.in) || readsBody(row.message ?? '')
}

/** Whether the scheme's `when` holds. Its `secretPrefix` was checked when the scheme was prepared. */
function holds({ when }: SchemeRow, found: FoundSignature, evidence: Evidence): boolean {
  if (when?.query !== undefined && evidence.query(when.query) === undefined) return false
  if (when?.header !== undefined && evidence.header(when.header.name) !== when.header.equals) return false
  return when?.signatureLength === undefined || found.values[0]?.length === when.signatureLength
}

/** The reason why even a right signature would not prove the body. */
function weaknessOf(row: SchemeRow, evidence: Evidence): string | undefined {
  const better = row.replacedBy
  if (better !== undefined && evidence.header(better.announcedBy) !== undefined)
    return `${better.announcedBy} is there, and so must be ${better.header}`
  if (leavesOutBody(row.message ?? '', evidence))
    return 'it signs the fields of a form, and the body is no form'
  if (isExtendable(row) && hasControls(evidence.body))
    return 'the body has control characters, as one has that was extended without the secret'
  return undefined
}

/** The reason why the signature cannot be compared at all. */
function obstacle(
  row: SchemeRow,
  found: FoundSignature,
  candidates: readonly Candidate[],
  evidence: Evidence,
): string | undefined {
  if (found.values.every((value) => value === '')) return 'it is empty'
  if (candidates.length === 0) return layoutProblem(row)
  if (row.every === true && candidates.length < found.values.length) return 'not every item carries it'
  if (row.bodyDigestQuery !== undefined && evidence.query(row.bodyDigestQuery) !== sha256Hex(evidence.body)) {
    return `the body is not the one that ${row.bodyDigestQuery} in the URL names`
  }
  return undefined
}

/** Whether a digest begins with the secret. Then a known one can be continued, after a padding that has NULs. */
function isExtendable({ mac, message = '' }: SchemeRow): boolean {
  return mac === 'hash' && message.startsWith('{secret}')
}

/** Whether bytes have control characters that no JSON and no form has. */
function hasControls(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)
}

function layoutProblem({ signature }: SchemeRow): string {
  if (signature.prefixHash !== undefined) {
    return `its value starts with none of ${Object.keys(signature.prefixHash).join(' ')}`
  }
  if (signature.prefix !== undefined) return `its value lacks the "${signature.prefix.trim()}" prefix`
  const keys = signature.keys?.filter((key) => key !== '*') ?? []
  return keys.length === 0 ? 'it holds no signature' : `it holds no ${keys.join(' or ')} signature`
}

function checkTokens(
  { scheme: { row }, key, evidence }: Checking,
  { where }: FoundSignature,
  candidates: readonly Candidate[],
): CheckResult {
  let reason: string | undefined
  for (const { text } of candidates.slice(0, PUBLIC_KEY_CANDIDATES_MAX)) {
    const checked = checkJwt(row, key, text, evidence.body, evidence.request.receivedAt)
    if (checked.kind === 'matches') {
      const coversBody = checked.coversBody || row.signature.in === 'rawbody'
      const partial = coversBody ? undefined : (row.partial ?? 'it proves the sender, not the body')
      return { kind: 'matches', where, ageSeconds: undefined, partial }
    }
    reason ??= checked.reason ?? undefined
  }
  return { kind: 'differs', where, reason }
}

function checkMessages(
  checking: Checking,
  { where }: FoundSignature,
  candidates: readonly Candidate[],
): CheckResult {
  const {
    scheme: { row },
    key,
    evidence,
  } = checking
  const matches = candidateMatcher(checking)
  const tried = key.kind === 'public' ? candidates.slice(0, PUBLIC_KEY_CANDIDATES_MAX) : candidates
  let right: Candidate | undefined
  for (const candidate of tried) {
    const result = matches(candidate)
    if (typeof result === 'object') {
      return { kind: 'differs', where, reason: `the request lacks ${result.missing}` }
    }
    right = result ? candidate : undefined
    // One right signature decides. If every item must carry one, one wrong signature decides.
    if (result !== (row.every === true)) break
  }
  return right === undefined
    ? { kind: 'differs', where, reason: undefined }
    : timely(row, right.where ?? where, right, evidence)
}

/** Refuses a right signature whose timestamp is too far from the time of receipt. */
function timely(row: SchemeRow, where: string, candidate: Candidate, evidence: Evidence): CheckResult {
  const text = timestampText(row.timestamp, candidate, evidence)
  const time = checkTimestamp(row, text, evidence.request.receivedAt)
  switch (time.kind) {
    case 'unreadable':
      return { kind: 'differs', where, reason: `the signature is right, but ${time.where} is no timestamp` }
    case 'stale':
      return { ...time, kind: 'stale', where }
    case 'fresh':
      return { kind: 'matches', where, ageSeconds: time.ageSeconds, partial: row.partial ?? row.caveat }
    case 'unchecked':
      return { kind: 'matches', where, ageSeconds: undefined, partial: row.partial ?? row.caveat }
  }
}
