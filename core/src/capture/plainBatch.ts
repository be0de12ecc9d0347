import pg from 'pg'
import { START_DELIVERIES } from '../deliveries/index.ts'
import {
  type Db,
  encodeArray,
  encoded,
  field,
  INT4,
  INT8,
  type Pipeline,
  type TextRow,
  TIMESTAMPTZ,
  UUID,
} from '../platform/db/index.ts'
import { evictedRequests } from '../requests/index.ts'
import { BatchDeliveries, type DeliveryServices, type Group } from './batchDeliveries.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { CAPTURED_IDS, CLAIM_EVENTS, COPY, COUNT, COUNT_AND_EVICT, NOTE_CRITERIA } from './plainStatements.ts'
import { REQUEST_COLUMNS } from './requestColumns.ts'

/**
 * The most endpoints of a plain batch. Each takes a count statement, and with more of them the general statement is
 * cheaper.
 */
const ENDPOINTS_MAX = 8
/** Time for which an endpoint uses the general statement after a count statement has failed for it. */
const GENERAL_MS = 1000
/**
 * SQLSTATEs of a batch that the general statement must decide: `1 / count(*)` without rows, and an event that is claimed
 * already.
 */
const UNDECIDED = new Set(['22012', '23505'])

const evictedByCount = evictedRequests.labels('requests')

const STATEMENTS = {
  count: COUNT,
  'count and evict': COUNT_AND_EVICT,
  copy: COPY,
  'start deliveries': START_DELIVERIES,
  'note criteria': NOTE_CRITERIA,
  'claim events': CLAIM_EVENTS,
  'captured ids': CAPTURED_IDS,
} as const

/** Prepares the statements of {@link storePlainly} on a connection. */
export async function preparePlain(pipeline: Pipeline): Promise<void> {
  for (const [name, text] of Object.entries(STATEMENTS)) await pipeline.prepare(name, text)
}

/** Ways to store a batch: by {@link storePlainly}, below the cap or at it, or by the general statement. */
export type Way = 'plain' | 'evicting' | 'general'

/** How a batch was stored, and the ids of captures of endpoints that have answers other than their own. */
export interface Stored {
  readonly way: Way
  readonly ids: ReadonlyMap<EvaluatedCapture, number>
}

const GENERAL: Stored = { way: 'general', ids: new Map() }

/**
 * The short way to store a batch: a count statement for each endpoint, one COPY and, if there are deliveries, a
 * statement that starts them, in one round trip. It serves endpoints that are open and within their rate, below the cap
 * or at it. For an endpoint with `dedupe` one more statement claims the events, and fails if one is claimed already. The
 * batch is stored whole or not at all.
 *
 * First attempts for which this process has slots are claimed in the same round trip, and begin when it has returned.
 * Jobs for the lanes of the others are queued in the same transaction. State that is learned about an
 * endpoint is kept with its settings.
 *
 * @param aheadMs see `aheadMs` of api/services.ts
 * @returns how it was stored; `general`: nothing was stored, and the general statement must decide
 * @throws errors of PostgreSQL about a row that it cannot hold, and errors of the connection
 */
export async function storePlainly(
  services: DeliveryServices,
  { db, pipeline }: { readonly db: Db; readonly pipeline: Pipeline },
  captures: readonly EvaluatedCapture[],
  aheadMs: number,
): Promise<Stored> {
  const groups = groupsOf(captures)
  if (groups === undefined) return GENERAL
  const deliveries = new BatchDeliveries(services, groups)
  const run = async () => {
    const rows = await pipeline.run(() => {
      for (const group of groups) addCount(pipeline, group, aheadMs)
      pipeline.copyIn('copy', REQUEST_COLUMNS.length, captures, (buffer, capture) => {
        for (const { write } of REQUEST_COLUMNS) write(buffer, capture)
      })
      for (const group of groups) deliveries.add(pipeline, group)
      for (const group of groups) addNotes(pipeline, group)
      for (const group of groups) addClaims(pipeline, group, aheadMs)
      // Last, so that its rows are behind those that the deliveries count.
      for (const group of groups) if (group.settings.script !== null) addIds(pipeline, group)
    })
    deliveries.haveStarted(rows.slice(groups.length))
    return rows
  }
  try {
    const rows = deliveries.needJobs
      ? await pipeline.exclusively(() =>
          db.transaction().execute(async (trx) => {
            const counted = await run()
            await deliveries.enqueue(trx)
            return counted
          }),
        )
      : await pipeline.outside(run)
    deliveries.begin()
    const evicted = groups.map((_group, index) => Number(rows[index]?.[1]))
    // The endpoint has room again: it need not look for the oldest request.
    for (const [index, { settings }] of groups.entries())
      if (evicted[index] === 0) settings.learned.isFull = false
    const evictedCount = evicted.reduce((sum, requests) => sum + requests, 0)
    const ids = idsOf(groups, rows)
    if (evictedCount === 0) return { way: 'plain', ids }
    evictedByCount.inc(evictedCount)
    return { way: 'evicting', ids }
  } catch (error) {
    deliveries.release()
    if (!(error instanceof pg.DatabaseError) || !UNDECIDED.has(error.code ?? '')) throw error
    const until = performance.now() + GENERAL_MS
    for (const { settings } of groups) settings.learned.generalUntil = until
    return GENERAL
  }
}

/** Reads the ids of captures, which are the last rows of a batch, by {@link addIds}. */
function idsOf(groups: readonly Group[], rows: readonly TextRow[]): Stored['ids'] {
  const named = groups.flatMap(({ settings, captures }) => (settings.script === null ? [] : captures))
  const first = rows.length - named.length
  return new Map(named.map((capture, index) => [capture, Number(rows[first + index]?.[0])]))
}

/**
 * Groups captures by endpoint, in id order like the locks of every writer; undefined if the general statement is
 * needed.
 */
function groupsOf(captures: readonly EvaluatedCapture[]): Group[] | undefined {
  const groups = new Map<string, Group>()
  for (const capture of captures) {
    const { settings, needsId, original } = capture
    if (needsId || original !== undefined) return undefined
    const group = groups.get(settings.endpointId)
    if (group === undefined) {
      if (settings.learned.generalUntil > performance.now()) return undefined
      groups.set(settings.endpointId, { settings, captures: [capture] })
    } else if (group.settings === settings) group.captures.push(capture)
    else return undefined
  }
  if (groups.size > ENDPOINTS_MAX) return undefined
  for (const group of groups.values()) if (hasDuplicates(group)) return undefined
  return [...groups.values()].sort((a, b) => (a.settings.endpointId < b.settings.endpointId ? -1 : 1))
}

function addCount(pipeline: Pipeline, { settings, captures }: Group, aheadMs: number): void {
  const bytes = captures.reduce((sum, { row }) => sum + row.body.length, 0)
  const storageBytes = captures.reduce((sum, { row }) => sum + row.storageBytes, 0)
  const last = captures.reduce((latest, { row }) => Math.max(latest, row.receivedAt.getTime()), 0)
  pipeline.execute(settings.learned.isFull ? 'count and evict' : 'count', [
    field(UUID, settings.endpointId),
    field(INT4, settings.revision),
    field(INT4, captures.length),
    field(INT8, bytes),
    field(TIMESTAMPTZ, new Date(last)),
    field(INT8, aheadMs),
    field(INT4, settings.storedRequestsMax),
    field(INT4, settings.captureRatePerMinute),
    field(INT8, settings.captureBytesPerMinute),
    field(INT8, storageBytes),
    field(INT4, settings.dedupe === null ? 0 : captures.filter(({ claim }) => claim !== null).length),
  ])
}

/** Whether an event comes twice in the group. */
function hasDuplicates({ settings, captures }: Group): boolean {
  if (settings.dedupe === null) return false
  const keys = captures.flatMap(({ claim }) => claim?.key ?? [])
  return new Set(keys).size < keys.length
}

function addClaims(pipeline: Pipeline, { settings, captures }: Group, aheadMs: number): void {
  if (settings.dedupe === null) return
  const claims = captures.flatMap(({ claim }, index) =>
    claim === null ? [] : [{ key: claim.key, newer: captures.length - 1 - index }],
  )
  if (claims.length === 0) return
  pipeline.execute('claim events', [
    field(UUID, settings.endpointId),
    field(INT4, captures.length),
    encoded(encodeArray(UUID, claims, ({ key }) => key)),
    encoded(encodeArray(INT4, claims, ({ newer }) => newer)),
    field(INT4, settings.dedupe.windowSeconds),
    field(INT8, aheadMs),
  ])
}

function addIds(pipeline: Pipeline, { settings, captures }: Group): void {
  pipeline.execute('captured ids', [field(UUID, settings.endpointId), field(INT4, captures.length)])
}

/** Adds the statement that notes criteria: for each, the number of captures after the last one that met it. */
function addNotes(pipeline: Pipeline, { settings, captures }: Group): void {
  const met = new Map<string, number>()
  for (const [index, { criteriaIds }] of captures.entries()) {
    for (const id of criteriaIds) met.set(id, captures.length - 1 - index)
  }
  if (met.size === 0) return
  const entries = [...met]
  pipeline.execute('note criteria', [
    field(UUID, settings.endpointId),
    field(INT4, 1 + Math.max(...met.values())),
    encoded(encodeArray(UUID, entries, ([id]) => id)),
    encoded(encodeArray(INT4, entries, ([, newer]) => newer)),
  ])
}
