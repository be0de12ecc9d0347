import { randomUUID } from 'node:crypto'
import type { Insertable } from 'kysely'
import { parseColumn } from '../engine/columns/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { type SentJson, shownJson } from '../engine/json/index.ts'
import { parseEventIdPath } from '../engine/verification/index.ts'
import type { EndpointsTable } from '../platform/db/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import { responsesText } from './responses.ts'
import type { CreateInput } from './schema.ts'
import { StoreRulesInput } from './storing.ts'

type Settings = Omit<CreateInput, 'ttlSeconds' | 'forwardUrl' | 'forwardingEnabled' | 'forwardSigningSecret'>

/** Members of an input whose rules and conditions may hold numbers of any length. */
interface Documents {
  readonly responses?: readonly { readonly when?: unknown }[] | undefined
  readonly storeRules?: CreateInput['storeRules'] | null
}

/** The same input with numbers of its documents as the call spells them: `JSON.parse` has rounded the long ones. */
export function asSpelled<Input extends Documents>(sent: SentJson | null, input: Input) {
  const { responses, storeRules } = input
  const part = (...path: readonly (string | number)[]) => {
    const text = sent?.part(path)
    return text === undefined ? undefined : shownJson(text)
  }
  const spelled = storeRules && StoreRulesInput.safeParse(part('storeRules'))
  return {
    ...input,
    ...(spelled?.success && { storeRules: spelled.data }),
    ...(responses && {
      responses: responses.map((response, index) => ({
        ...response,
        when: part('responses', index, 'when') ?? response.when,
      })),
    }),
  }
}

/**
 * The columns that the given members change. An absent member changes nothing. An empty one clears: `signatureHeader:
 * ""` returns to the provider's preset.
 */
export function settingsColumns(
  input: Settings,
  { secrets, workspaceId, now }: { secrets: SecretBox; workspaceId: string; now: Date },
): Partial<Insertable<EndpointsTable>> {
  const columns: Partial<Insertable<EndpointsTable>> = {}
  if (input.name !== undefined) columns.name = input.name
  if (input.isActive !== undefined) columns.isActive = input.isActive
  if (input.provider !== undefined) columns.provider = input.provider === '' ? null : input.provider
  if (input.eventIdPath !== undefined)
    columns.eventIdPath = input.eventIdPath === '' ? null : input.eventIdPath
  if (input.columns !== undefined) columns.columns = JSON.stringify(input.columns)
  if (input.dedupe !== undefined) columns.dedupe = input.dedupe === null ? null : JSON.stringify(input.dedupe)
  if (input.responseStatusCode !== undefined) columns.responseStatusCode = input.responseStatusCode
  if (input.responseContentType !== undefined) columns.responseContentType = input.responseContentType
  if (input.responseHeaders !== undefined) columns.responseHeaders = JSON.stringify(input.responseHeaders)
  if (input.responseBody !== undefined) columns.responseBody = input.responseBody
  if (input.responses !== undefined) {
    columns.responses = responsesText(input.responses)
    columns.responsesRun = randomUUID()
  }
  if (input.answerFrom !== undefined)
    columns.answerFrom = input.answerFrom === null ? null : JSON.stringify(input.answerFrom)
  if (input.rejectUnverified !== undefined) columns.rejectUnverified = input.rejectUnverified
  if (input.allowRehearsal !== undefined) columns.allowRehearsal = input.allowRehearsal
  if (input.allowCors !== undefined) columns.allowCors = input.allowCors
  if (input.allowedSenders !== undefined) columns.allowedSenders = JSON.stringify(input.allowedSenders)
  if (input.storeRules !== undefined) columns.storeRules = JSON.stringify(input.storeRules)
  if (input.dropHeaders !== undefined) columns.dropHeaders = JSON.stringify(input.dropHeaders)
  if (input.encryptBodies !== undefined) columns.encryptBodies = input.encryptBodies
  if (input.forwardOriginal !== undefined) columns.forwardOriginal = input.forwardOriginal
  if (input.forwardOriginal === false) columns.originalHours = null
  if (input.originalHours !== undefined) columns.originalHours = input.originalHours
  if (input.signingSecret !== undefined) {
    const cleared = input.signingSecret === ''
    columns.signingSecret = cleared ? null : secrets.seal(input.signingSecret, workspaceId)
    columns.signingSecretSetAt = cleared ? null : now
  }
  if (input.handshakeToken !== undefined) {
    columns.handshakeToken =
      input.handshakeToken === '' ? null : secrets.seal(input.handshakeToken, workspaceId)
  }
  return { ...columns, ...manualColumns(input) }
}

function manualColumns(input: Settings): Partial<Insertable<EndpointsTable>> {
  if (input.signatureHeader === '') {
    return { signatureHeader: null, signatureAlgorithm: null, signatureEncoding: null, signaturePrefix: null }
  }
  const columns: Partial<Insertable<EndpointsTable>> = {}
  if (input.signatureHeader !== undefined) columns.signatureHeader = input.signatureHeader
  if (input.signatureAlgorithm !== undefined) columns.signatureAlgorithm = input.signatureAlgorithm || null
  if (input.signatureEncoding !== undefined) columns.signatureEncoding = input.signatureEncoding || null
  if (input.signaturePrefix !== undefined) columns.signaturePrefix = input.signaturePrefix
  return columns
}

/** Checks the paths of an endpoint: to its event ids, where `''` clears, and of its columns. Undefined changes nothing. */
export function checkPaths({
  columns,
  eventIdPath,
}: Partial<Pick<CreateInput, 'columns' | 'eventIdPath'>>): InputIssue[] {
  const issueOf = (path: InputIssue['path'], parsed: ReturnType<typeof parseColumn>): InputIssue[] =>
    'path' in parsed ? [] : [{ path, code: parsed.problem.code, detail: parsed.problem.reason }]
  return [
    ...(eventIdPath ? issueOf(['eventIdPath'], parseEventIdPath(eventIdPath)) : []),
    ...(columns ?? []).flatMap((text, at) => issueOf(['columns', at], parseColumn(text))),
  ]
}
