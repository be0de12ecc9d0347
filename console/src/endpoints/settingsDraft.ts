import { isRecord, parsed } from '../json.ts'
import { inUnits, secondsOf, typedNumber } from '../parts/DurationField.tsx'
import { choices } from '../parts/Field.tsx'
import type { Form } from '../parts/useForm.ts'
import type { Endpoint, Inputs } from '../trpc.ts'
import { headerLines, headersOf, linesOf } from '../words/headers.ts'

/** Members of an endpoint, as the API takes them. */
export type Members = Omit<Inputs['endpoints']['update'], 'endpointId'>

/** Algorithms of a signature scheme. */
export const ALGORITHMS = choices('sha256', 'sha1', 'sha512', 'rsa-sha256', 'rsa-sha512', 'ed25519')

/** Encodings of a signature. */
export const ENCODINGS = choices('hex', 'base64', 'base64url')

const DAY_SECONDS = 86_400

/** Settings of an endpoint while they are written, without secrets. */
export type SettingsDraft = ReturnType<typeof draftOf>

/** The form of all settings of an endpoint. */
export type SettingsForm = Form<SettingsDraft, Endpoint>

/** Secrets that are typed; empty keeps the stored one. They are never kept in the browser. */
export const NO_SECRETS = { signingSecret: '', handshakeToken: '' }

/** The secrets that were typed after a save of others. */
export function secretsLeft(typed: typeof NO_SECRETS, saved: typeof NO_SECRETS): typeof NO_SECRETS {
  const signingSecret = typed.signingSecret === saved.signingSecret ? '' : typed.signingSecret
  const handshakeToken = typed.handshakeToken === saved.handshakeToken ? '' : typed.handshakeToken
  return signingSecret === '' && handshakeToken === '' ? NO_SECRETS : { signingSecret, handshakeToken }
}

/** Settings of an endpoint, to be changed. */
export function draftOf(endpoint: Endpoint) {
  const { dedupe, originalHours, responses, verification } = endpoint
  const { manual } = verification
  const written = responses.map(({ used: _used, ...response }) => response)
  return {
    name: endpoint.name,
    provider: endpoint.provider ?? '',
    // One network per line.
    networks: endpoint.allowedSenders.join('\n'),
    onlyVerified: endpoint.rejectUnverified,
    mayRehearse: endpoint.allowRehearsal,
    // Header of a signature scheme; empty without one.
    header: manual?.header ?? '',
    algorithm: ALGORITHMS.find(({ value }) => value === manual?.algorithm)?.value ?? 'sha256',
    encoding: ENCODINGS.find(({ value }) => value === manual?.encoding)?.value ?? 'hex',
    prefix: manual?.prefix ?? '',
    eventIdPath: endpoint.eventIdPath ?? '',
    // One path per line.
    columns: endpoint.columns.join('\n'),
    // Empty where duplicates are like any other.
    dedupeMode: dedupe?.then ?? ('' as const),
    // Empty for the id of the event.
    dedupeBy: dedupe === null || dedupe.by === 'event' ? '' : dedupe.by,
    dedupeWindow: inUnits(dedupe?.windowSeconds ?? DAY_SECONDS),
    status: String(endpoint.responseStatusCode),
    contentType: endpoint.responseContentType,
    headers: headerLines(endpoint.responseHeaders).join('\n'),
    body: endpoint.responseBody,
    allowsPages: endpoint.allowCors,
    // Scripted answers, as JSON.
    answers: JSON.stringify({ responses: written, answerFrom: endpoint.answerFrom }, null, 2),
    // One name per line.
    dropHeaders: endpoint.dropHeaders.join('\n'),
    // Rules before storing, as JSON; empty for none.
    storeRules: textOfRules(endpoint.storeRules),
    encrypts: endpoint.encryptBodies,
    keepsOriginal: endpoint.forwardOriginal,
    // Hours; empty for the default.
    originalHours: originalHours === null ? '' : String(originalHours),
  }
}

/** Scripted answers in a text; undefined while it is no JSON object. */
export function answersOf(text: string): Pick<Members, 'responses' | 'answerFrom'> | undefined {
  const value = parsed(text)
  if (!isRecord(value)) return undefined
  const { responses = [], answerFrom = null }: Pick<Members, 'responses' | 'answerFrom'> = value
  return { responses, answerFrom }
}

/** Whether the JSON in the draft can be read. */
export const isReadable = ({ answers, storeRules }: SettingsDraft): boolean =>
  answersOf(answers) !== undefined && rulesOf(storeRules) !== undefined

/** The members that a draft changes: only these are sent, so that a change elsewhere of another one stays. */
export function changesOf(
  draft: SettingsDraft,
  before: SettingsDraft,
  { handshakeToken, signingSecret }: typeof NO_SECRETS,
): Members {
  const old = groupsOf(before)
  const changed = groupsOf(draft).filter((group, at) => JSON.stringify(group) !== JSON.stringify(old[at]))
  return Object.assign(
    {},
    ...changed,
    // A secret belongs to a provider, or to a scheme.
    signingSecret === ''
      ? {}
      : { ...(draft.header === '' ? { provider: draft.provider } : schemeOf(draft)), signingSecret },
    handshakeToken === '' ? {} : { provider: draft.provider, handshakeToken },
  )
}

/** Members that the API checks together. */
function groupsOf(draft: SettingsDraft): Members[] {
  const { dedupeBy, dedupeMode, keepsOriginal, originalHours } = draft
  return [
    { name: draft.name.trim() },
    { provider: draft.provider },
    { allowedSenders: namesOf(draft.networks) },
    { rejectUnverified: draft.onlyVerified },
    { allowRehearsal: draft.mayRehearse },
    schemeOf(draft),
    { eventIdPath: draft.eventIdPath.trim() },
    { columns: namesOf(draft.columns) },
    {
      dedupe:
        dedupeMode === ''
          ? null
          : {
              by: dedupeBy.trim() || 'event',
              windowSeconds: secondsOf(draft.dedupeWindow),
              then: dedupeMode,
            },
    },
    { responseStatusCode: typedNumber(draft.status) },
    { responseContentType: draft.contentType },
    { responseHeaders: headersOf(draft.headers) },
    { responseBody: draft.body },
    { allowCors: draft.allowsPages },
    answersOf(draft.answers) ?? {},
    { dropHeaders: namesOf(draft.dropHeaders) },
    { storeRules: rulesOf(draft.storeRules) },
    { encryptBodies: draft.encrypts },
    {
      forwardOriginal: keepsOriginal,
      ...(keepsOriginal && {
        originalHours: originalHours.trim() === '' ? null : typedNumber(originalHours),
      }),
    },
  ]
}

function schemeOf({ algorithm, encoding, header, prefix }: SettingsDraft): Members {
  if (header.trim() === '') return { signatureHeader: '' }
  return {
    signatureHeader: header.trim(),
    signatureAlgorithm: algorithm,
    signatureEncoding: encoding,
    signaturePrefix: prefix,
  }
}

type Rules = Endpoint['storeRules']

/** Names of headers in a text with one on each line. */
export const namesOf = (text: string): string[] => linesOf(text).map((name) => name.trim())

/** Rules as indented JSON; empty for none. */
export function textOfRules(rules: Rules): string {
  return rules.length === 0 ? '' : JSON.stringify(rules, null, 2)
}

/** Rules in a text; undefined while it is not a JSON list or object. */
export function rulesOf(text: string): Rules | undefined {
  if (text.trim() === '') return []
  const value = parsed(text)
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.every(isRecord) ? list : undefined
}

/** A pasted request: JSON, or else a text that is the body. */
export function sampleOf(text: string): unknown {
  return parsed(text) ?? { body: text }
}
