import { isDeepStrictEqual } from 'node:util'
import { isSealedOf, requireUnsealed } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { isCredentialName, MASK } from '../engine/credentials.ts'
import type { Trx } from '../platform/db/index.ts'

export interface Change {
  /** The name of the procedure that made the change: `endpoints.update`. */
  readonly action: string
  /** Null for a change of the installation. */
  readonly workspaceId: string | null
  readonly subject: { readonly type: string; readonly id: string; readonly name?: string | null }
  /** The endpoint that the subject is, or belongs to. */
  readonly endpointId?: string | null
  /** Null before a creation. */
  readonly before: object | null
  /** Null after a deletion. */
  readonly after: object | null
}

/** The members of a changed row that an entry names. */
interface Named {
  readonly id: string
  readonly name: string
  readonly workspaceId: string | null
  readonly endpointId?: string | null
}

/**
 * Builds the change of a row that has a name.
 *
 * @param subject kind and operation: `[type, action]`
 * @param before null for a creation
 * @param after null for a deletion
 * @param shown the members of a row that the log shows
 */
export function changeOf<Row extends Named>(
  [type, action]: readonly [type: string, action: string],
  before: Row | null,
  after: Row | null,
  shown: (row: Row) => object,
): Change {
  const { id = '', name = '', workspaceId = null, endpointId = null }: Partial<Named> = after ?? before ?? {}
  return {
    action,
    workspaceId,
    subject: { type, id, name },
    endpointId,
    before: before && shown(before),
    after: after && shown(after),
  }
}

/** Texts are cut to this length; only the length of the rest is recorded. */
const TEXT_CHARACTERS_MAX = 2000
/** Only the names of the members are recorded of longer changes. */
const JSON_CHARACTERS_MAX = 65_536
/** Members that say whether there is a secret, when it was set, or which key it was. */
const HARMLESS = /^apiKeyId$|(Set|SetAt|Prefix|Count)$/

/**
 * Writes an entry of the audit log, in the transaction of the change, so that both are committed or neither. Only
 * members that differ are recorded, without secrets. Without a difference there is no entry.
 *
 * A move that seals the workspace meanwhile may have copied the former state, so a change that sees the seal ends. One
 * that does not see it began before, and the move waits for its transaction.
 *
 * @param who the call's context, or the services of a process that makes a change itself, which it makes again in the
 *   other cell
 * @throws DomainError `unavailable` while the workspace is about to be in another cell
 */
export async function recordChange(
  trx: Trx,
  who: Pick<Services, 'clock' | 'actor'> & { readonly traceId?: string },
  { action, workspaceId, subject, endpointId, before, after }: Change,
): Promise<void> {
  const differing = difference(plain(before), plain(after))
  if (differing === undefined) return
  const { kind, id, name, address } = who.actor
  const entry = await trx
    .insertInto('auditEntries')
    .values({
      workspaceId,
      at: who.clock.now(),
      actorKind: kind,
      actorId: id,
      actorName: name,
      address,
      traceId: who.traceId ?? null,
      action,
      subjectType: subject.type,
      subjectId: subject.id,
      subjectName: subject.name ?? null,
      endpointId: endpointId ?? null,
      before: stored(differing.before),
      after: stored(differing.after),
    })
    .returning(isSealedOf('audit_entries.workspace_id'))
    .executeTakeFirstOrThrow()
  if (kind !== 'service') requireUnsealed(entry.isSealed)
}

type Members = Readonly<Record<string, unknown>>

/** The value in the API's format: dates as text, no undefined members. */
function plain(value: object | null): Members | null {
  return value === null ? null : Object(JSON.parse(JSON.stringify(value)))
}

/** The members that differ; undefined if there are none. */
function difference(before: Members | null, after: Members | null) {
  if (before === null || after === null) return { before, after }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  )
  if (names.length === 0) return undefined
  const pick = (from: Members) =>
    Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name]]] : [])))
  return { before: pick(before), after: pick(after) }
}

function stored(members: Members | null): string | null {
  if (members === null) return null
  const text = JSON.stringify(withoutSecrets(members, ''))
  if (text.length <= JSON_CHARACTERS_MAX) return text
  return JSON.stringify(Object.fromEntries(Object.keys(members).map((name) => [name, '(too long)'])))
}

/**
 * Masks values with the name of a credential, at any depth, and credentials in URLs (query, and before the host); cuts
 * long texts.
 */
function withoutSecrets(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [member, withoutSecrets(inner, member)]),
    )
  }
  if (typeof value !== 'string') return value
  if (isCredentialName(name) && !HARMLESS.test(name)) return MASK
  const text = URL.canParse(value) ? maskedUrl(value) : value
  if (text.length <= TEXT_CHARACTERS_MAX) return text
  return `${text.slice(0, TEXT_CHARACTERS_MAX)}… (${text.length} characters)`
}

function maskedUrl(text: string): string {
  const url = new URL(text)
  if (url.password === '' && ![...url.searchParams.keys()].some(isCredentialName)) return text
  if (url.password !== '') url.password = MASK
  for (const name of [...url.searchParams.keys()]) {
    if (isCredentialName(name)) url.searchParams.set(name, MASK)
  }
  return url.href
}

/** An object that a plan's limit has suspended, or that is resumed because there is room again. */
export interface Suspension {
  readonly id: string
  readonly name: string
  readonly endpointId: string
  readonly suspendedByPlan: boolean
}

/**
 * Writes an entry for each, such as `endpoints.suspend` or `actions.resume`. The actor is the one who caused it: the
 * service itself if the numbers of a plan have changed.
 */
export async function recordSuspensions(
  trx: Trx,
  who: Parameters<typeof recordChange>[1],
  workspaceId: string,
  type: 'endpoint' | 'action' | 'watchdog',
  suspensions: readonly Suspension[],
): Promise<void> {
  for (const { id, name, endpointId, suspendedByPlan } of suspensions) {
    await recordChange(trx, who, {
      action: `${type}s.${suspendedByPlan ? 'suspend' : 'resume'}`,
      workspaceId,
      subject: { type, id, name },
      endpointId,
      before: { suspendedByPlan: !suspendedByPlan },
      after: { suspendedByPlan },
    })
  }
}
