import { sql } from 'kysely'
import { findDispatchActions, isOn, type LoadedAction, loadedActions } from '../actions/index.ts'
import { windowRuns } from '../api/callBudget.ts'
import { gathering } from '../api/gathering.ts'
import type { Clock, Services } from '../api/services.ts'
import {
  type DedupeSettings,
  dedupeSettings,
  type EndpointRow,
  ensureDataKey,
  findDataKey,
  ORIGINAL_HOURS,
  type ServedResponse,
  safeResponse,
  storedSettings,
  storingOf,
} from '../endpoints/index.ts'
import { type Column, storedColumns } from '../engine/columns/index.ts'
import { ConditionSet, looksOf, type Path, storedCondition } from '../engine/conditions/index.ts'
import { networkMatcher } from '../engine/networks.ts'
import { hashWith, looksOfStoring, type Storing } from '../engine/storing/index.ts'
import {
  eventIdPathOf,
  type PreparedVerification,
  prepareVerification,
} from '../engine/verification/index.ts'
import { planOf } from '../plans/index.ts'
import { type Db, run, statement, valuesOf } from '../platform/db/index.ts'
import { openDataKey } from '../platform/secrets/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import type { Sealing } from '../requests/index.ts'
import { listCriteria } from '../watchdogs/index.ts'
import { ensureHashKey, openHashKey } from '../workspaces/index.ts'
import { type AnswerScript, answerScript } from './answers/script.ts'
import { withStoredKeys } from './orderKeys.ts'
import { type Repeating, repeatingOf } from './storedCapture.ts'

/** Length of the window of the capture rate, in seconds. It is fixed, and starts with its first capture. */
export const WINDOW_SECONDS = 60

/** SQL for whether the window of the counters `c` runs at a time. */
export const captureWindowRuns = (now: string): string =>
  windowRuns('c.window_started_at', now, `interval '${WINDOW_SECONDS} s'`)

/** Settings of an endpoint for evaluating and answering its captures. */
export interface CaptureSettings {
  readonly endpointId: string
  /** Id in its capture URL. */
  readonly captureId: string
  /** Previous id in its capture URL, valid until `previousCaptureUntil`; null if there was none. */
  readonly previousCaptureId: string | null
  readonly previousCaptureUntil: Date | null
  readonly endpointName: string
  readonly workspaceId: string
  /** Number of the cell that has the endpoint; 0 in an installation with one database. */
  readonly cell: number
  /** Whether the workspace is sealed, because it is about to be in another cell. Such settings are not cached. */
  readonly isSealed: boolean
  /** The key of the workspace's plan. */
  readonly plan: string
  /** Revision of the settings. The capture statement refuses captures that were evaluated under another one. */
  readonly revision: number
  readonly payloadBytesMax: number
  readonly storedRequestsMax: number
  readonly captureRatePerMinute: number
  readonly captureBytesPerMinute: number
  /** Whether captures that are not verified are answered 401. */
  readonly rejectUnverified: boolean
  /** Whether pages of any origin may send and read the answers. */
  readonly allowCors: boolean
  /** Whether the endpoint takes captures from an address; undefined if it takes them from all. */
  readonly isAllowedSender: ((address: string | null) => boolean) | undefined
  readonly response: ServedResponse
  /** Answers other than `response`; null without any. */
  readonly script: AnswerScript | null
  /** Holds decrypted keys: never to be logged. */
  readonly verification: PreparedVerification
  /** Path of event ids that replaces the provider's. */
  readonly eventIdPath: Path | null
  /** Values of the body that lists show. */
  readonly columns: readonly Column[]
  /** Takes data out before a capture is stored; null if it is stored as it came. */
  readonly storing: Storing | null
  /** Members of a capture that may repeat a value that `storing` takes out. */
  readonly repeating: Repeating
  /** Seals captures; null if they are stored in plain. */
  readonly sealing: Sealing | null
  /** Milliseconds for which deliveries may have the original of a capture; null if they send what is stored. */
  readonly originalMs: number | null
  /** Keyed digest of the workspace; null if it has no key, because no setting needs one. */
  readonly hash: ((text: string) => string) | null
  /** Null: every event is taken each time. */
  readonly dedupe: DedupeSettings | null
  /** In position order. */
  readonly actions: readonly LoadedAction[]
  /** Conditions of watchdogs, by the ids of their criteria. */
  readonly criteria: ConditionSet<string>
  /** Comparisons with each value of a capture that the conditions of actions and watchdogs may make (`looksOf`). */
  readonly looks: number
  /** State that captures under these settings have shown. */
  readonly learned: Learned
}

/** Changes how the next captures are stored or refused. Times are milliseconds. */
export interface Learned {
  /** Whether the endpoint holds as many requests as it may. */
  isFull: boolean
  /** Until then the general statement stores its captures, by a monotonic clock. */
  generalUntil: number
  /** Until then it is over its rate, by the clock of the service. */
  overUntil: number
}

export const nothingLearned = (): Learned => ({ isFull: false, generalUntil: 0, overUntil: 0 })

type LoadServices = Pick<Services, 'cell' | 'clock' | 'db' | 'plans' | 'secrets'>

/**
 * Reads the settings of endpoints that are not deleted. The capture statement checks expiry, activity and suspension.
 *
 * @param captureIds well-formed uuids from capture URLs
 * @returns by every capture id of the endpoints found, their settings, or the error of reading them, which concerns no
 *   other endpoint; unknown ids are absent
 */
export async function loadCaptureSettings(
  services: LoadServices,
  captureIds: readonly string[],
): Promise<Map<string, CaptureSettings | Error>> {
  const now = services.clock.now()
  const endpoints = await findCaptured(services.db, captureIds, now)
  if (endpoints.length === 0) return new Map()
  const actions = findDispatchActions(services.db, valuesOf(endpoints, 'id'))
  const read = await Promise.allSettled(endpoints.map((endpoint) => settingsOf(services, endpoint, actions)))
  return new Map(
    endpoints.flatMap((endpoint, index) => {
      const result = read[index]
      const settings = result?.status === 'fulfilled' ? result.value : errorOf(result?.reason)
      return captureIdsOf(endpoint, now).map((id) => [id, settings] as const)
    }),
  )
}

/** {@link loadCaptureSettings} of one endpoint; undefined without it. */
export async function findCaptureSettings(
  services: LoadServices,
  captureId: string,
): Promise<CaptureSettings | undefined> {
  const found = (await loadCaptureSettings(services, [captureId])).get(captureId)
  if (found instanceof Error) throw found
  return found
}

const errorOf = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('The settings cannot be read.', { cause: reason })

/** The rows of endpoints by the ids in their capture URLs. */
function findCaptured(db: Db, captureIds: readonly string[], now: Date) {
  // The revision is read before the settings that it covers. Settings that are newer than it are then found to be
  // stale.
  return db
    .selectFrom('endpoints as e')
    .innerJoin('endpointRevisions as v', 'v.endpointId', 'e.id')
    .innerJoin('workspaces as w', 'w.id', 'e.workspaceId')
    .where((where) =>
      where.or([
        where.and([where('e.id', 'in', captureIds), where('e.captureId', 'is', null)]),
        where('e.captureId', 'in', captureIds),
        where.and([
          where('e.previousCaptureId', 'in', captureIds),
          where('e.previousCaptureUntil', '>', now),
        ]),
      ]),
    )
    .where('e.deletedAt', 'is', null)
    .selectAll('e')
    .leftJoin('workspaceKeys as k', 'k.workspaceId', 'e.workspaceId')
    .select(['v.revision', 'w.plan', 'k.hashKey'])
    .select(sql<boolean>`coalesce(w.sealed_until > statement_timestamp(), false)`.as('isSealed'))
    .execute()
}

type CapturedRow = Awaited<ReturnType<typeof findCaptured>>[number]

async function settingsOf(
  services: LoadServices,
  endpoint: CapturedRow,
  actions: ReturnType<typeof findDispatchActions>,
): Promise<CaptureSettings> {
  const { db, plans, secrets } = services
  const [rows, criteria, dataKey, hash] = await Promise.all([
    actions,
    listCriteria(db, endpoint.id),
    dataKeyOf(services, endpoint),
    hashOf(services, endpoint),
  ])
  const { limits } = planOf(plans, endpoint.plan)
  const endpointCriteria = new ConditionSet(
    criteria.map(({ id, match }) => ({ item: id, condition: storedCondition(match) })),
  )
  const columns = storedColumns(endpoint.columns)
  const storing = storingOf(endpoint, hash)
  const derives = {
    verification: prepareVerification(storedSettings(endpoint, secrets)),
    eventIdPath: eventIdPathOf(endpoint.eventIdPath),
  }
  const hiding = { dataKey: dataKey?.key ?? null, storing, hash, provider: derives.verification.provider }
  const endpointActions = withStoredKeys(loadedActions(rows.get(endpoint.id) ?? []), hiding)
  const own = { ...endpoint, responseHeaders: JSON.parse(endpoint.responseHeaders) }
  const script = answerScript(endpoint, own, endpointActions, isOn)
  return {
    endpointId: endpoint.id,
    captureId: endpoint.captureId ?? endpoint.id,
    previousCaptureId: endpoint.previousCaptureId,
    previousCaptureUntil: endpoint.previousCaptureUntil,
    endpointName: endpoint.name,
    workspaceId: endpoint.workspaceId,
    cell: services.cell?.number ?? 0,
    isSealed: endpoint.isSealed,
    plan: endpoint.plan,
    revision: endpoint.revision,
    payloadBytesMax: limits.payloadBytesMax,
    storedRequestsMax: limits.storedRequestsMax,
    captureRatePerMinute: limits.captureRatePerMinute,
    captureBytesPerMinute: limits.captureBytesPerMinute,
    rejectUnverified: endpoint.rejectUnverified,
    allowCors: endpoint.allowCors,
    isAllowedSender: allowedSendersOf(endpoint.allowedSenders),
    response: safeResponse(own),
    script,
    ...derives,
    columns,
    storing,
    repeating: repeatingOf(storing, derives),
    sealing: endpoint.encryptBodies ? dataKey : null,
    originalMs: endpoint.forwardOriginal
      ? (endpoint.originalHours ?? ORIGINAL_HOURS.default) * HOUR_MS
      : null,
    hash,
    dedupe: dedupeSettings(endpoint.dedupe, limits),
    actions: endpointActions,
    criteria: endpointCriteria,
    looks: endpointActions
      .filter(isOn)
      .reduce(
        (sum, { condition }) => sum + looksOf(condition),
        endpointCriteria.looks + looksOfStoring(storing) + (script?.conditions.looks ?? 0) + columns.length,
      ),
    learned: nothingLearned(),
  }
}

/** SQL of whether the endpoint `e` takes captures at a time. */
export const takesCaptures = (now: string): string =>
  `e.deleted_at is null and e.is_active and not e.suspended_by_plan and (e.expires_at is null or e.expires_at > ${now})`

const OPEN_REVISIONS = statement(
  'open revisions',
  `select e.id, v.revision from endpoints e join endpoint_revisions v on v.endpoint_id = e.id
  where e.id = any($1::uuid[]) and ${takesCaptures('$2::timestamptz')}`,
)

/**
 * The revisions of the settings of endpoints; undefined for one that is deleted, expired, switched off or suspended.
 * Concurrent callers share a statement, so that a flood of preflights has one connection.
 */
export const openRevisions = (clock: Clock) =>
  gathering<string, number | undefined>(async (db, endpointIds) => {
    const rows = await run(db, OPEN_REVISIONS, [endpointIds, clock.now()])
    const revisions = new Map(rows.map(({ id, revision }) => [id, revision]))
    return endpointIds.map((id) => revisions.get(id))
  })

/** The data key of an endpoint that encrypts its captures, or has done so; null without one. */
async function dataKeyOf(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  { id: endpointId, workspaceId, encryptBodies }: Pick<EndpointRow, 'id' | 'workspaceId' | 'encryptBodies'>,
): Promise<Sealing | null> {
  const of = { workspaceId, endpointId }
  const ref = encryptBodies ? await ensureDataKey(db, { ...of, secrets }) : await findDataKey(db, of)
  return ref === undefined ? null : { ...ref, key: openDataKey(secrets, ref.sealedKey) }
}

/** The keyed digest of an endpoint's workspace, which gets its key when a setting needs it first. */
async function hashOf(
  { clock, db, secrets }: Pick<Services, 'clock' | 'db' | 'secrets'>,
  endpoint: Parameters<typeof storingOf>[0] & {
    readonly workspaceId: string
    readonly dedupe: string | null
    readonly hashKey: Buffer | null
  },
): Promise<Storing['hash']> {
  const { workspaceId, hashKey, dedupe } = endpoint
  if (hashKey !== null) return hashWith(openHashKey(secrets, workspaceId, hashKey))
  if (dedupe === null && storingOf(endpoint, null) === null) return null
  return hashWith(await ensureHashKey(db, { workspaceId, secrets, now: clock.now() }))
}

/** The ids of an endpoint's capture URLs. All map to one object, which is also the key for the state of its rate. */
function captureIdsOf({ id, captureId, previousCaptureId, previousCaptureUntil }: CapturedRow, now: Date) {
  const own = captureId ?? id
  if (previousCaptureId === null || previousCaptureUntil === null || previousCaptureUntil <= now) return [own]
  return [own, previousCaptureId]
}

function allowedSendersOf(stored: string): CaptureSettings['isAllowedSender'] {
  const networks: string[] = JSON.parse(stored)
  return networks.length === 0 ? undefined : networkMatcher(networks)
}
