import pg from 'pg'
import type { Services } from '../api/services.ts'
import { insertRecoveryJob, START_DELIVERIES, START_IN_FLOWS } from '../deliveries/index.ts'
import {
  type Db,
  encodeArray,
  encoded,
  field,
  INT4,
  INT8,
  type Pipeline,
  TIMESTAMPTZ,
  UUID,
} from '../platform/db/index.ts'
import { evictedRequests } from '../platform/metrics/index.ts'
import { BatchDeliveries, type DeliveryServices, type Group } from './batchDeliveries.ts'
import type { CaptureSettings } from './captureSettings.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { COPY, COUNT, COUNT_AND_EVICT, NOTE_CRITERIA } from './plainStatements.ts'
import { REQUEST_COLUMNS } from './requestColumns.ts'

/** A count statement each; beyond this many the general statement, which takes them all at once, is cheaper. */
const ENDPOINTS_MAX = 8
/** How long an endpoint stays with the general statement that the count statements could not serve. */
const GENERAL_MS = 1000
/** What `1 / count(*)` of nothing raises. */
const DIVISION_BY_ZERO = '22012'

const evictedByCount = evictedRequests.labels('requests')

const STATEMENTS = {
  count: COUNT,
  'count and evict': COUNT_AND_EVICT,
  copy: COPY,
  'start deliveries': START_DELIVERIES,
  'start deliveries in flows': START_IN_FLOWS,
  'note criteria': NOTE_CRITERIA,
} as const

/** Makes a connection fit for {@link PlainBatches}. */
export async function preparePlain(
  pipeline: Pipeline,
  { recoveryJobs }: Pick<Services, 'recoveryJobs'>,
): Promise<void> {
  for (const [name, text] of Object.entries(STATEMENTS)) await pipeline.prepare(name, text)
  await pipeline.prepare('own attempts', insertRecoveryJob(recoveryJobs))
}

/** How a batch is stored: by {@link PlainBatches}, below the cap or at it, or by the general statement. */
export type Way = 'plain' | 'evicting' | 'general'

/**
 * The short way of a batch: a count statement for each endpoint, one COPY and, where deliveries follow, a statement that starts
 * them, in one round trip. It serves endpoints that are open and within their rate, below the cap or at it. It either stores the
 * whole batch or nothing.
 *
 * Where this process has slots for all first attempts, they are claimed in the same round trip and begin when it has returned.
 * Otherwise the jobs of the others are queued in the same transaction. One more statement gives the claimed attempts their recovery job.
 *
 * What it knows of an endpoint is remembered with the settings under which it was learned.
 */
export class PlainBatches {
  private readonly full = new WeakSet<CaptureSettings>()
  private readonly generalUntil = new WeakMap<CaptureSettings, number>()

  /**
   * Stores a batch, durably, when it can; then the first attempts that this process makes have begun.
   *
   * @param aheadMs see `aheadMs` of api/services.ts
   * @returns how it was stored; `general`: nothing of it is, and the general statement must decide
   * @throws what PostgreSQL said of a row that it cannot hold, or when the connection fails
   */
  async store(
    services: DeliveryServices,
    { db, pipeline }: { readonly db: Db; readonly pipeline: Pipeline },
    captures: readonly EvaluatedCapture[],
    aheadMs: number,
  ): Promise<Way> {
    const groups = this.groupsOf(captures)
    if (groups === undefined) return 'general'
    const deliveries = new BatchDeliveries(services, groups)
    const run = async () => {
      const rows = await pipeline.run(() => {
        for (const group of groups) this.addCount(pipeline, group, aheadMs)
        pipeline.copyIn('copy', REQUEST_COLUMNS.length, captures, (buffer, capture) => {
          for (const { write } of REQUEST_COLUMNS) write(buffer, capture)
        })
        for (const group of groups) deliveries.add(pipeline, group)
        deliveries.addRecoveryJob(pipeline)
        for (const group of groups) addNotes(pipeline, group)
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
        : await run()
      deliveries.begin()
      const evicted = groups.map((_group, index) => Number(rows[index]?.[1]))
      // There is room again: looking for the oldest would be in vain.
      for (const [index, { settings }] of groups.entries())
        if (evicted[index] === 0) this.full.delete(settings)
      const evictedCount = evicted.reduce((sum, requests) => sum + requests, 0)
      if (evictedCount === 0) return 'plain'
      evictedByCount.inc(evictedCount)
      return 'evicting'
    } catch (error) {
      deliveries.release()
      if (!(error instanceof pg.DatabaseError) || error.code !== DIVISION_BY_ZERO) throw error
      const until = performance.now() + GENERAL_MS
      for (const { settings } of groups) this.generalUntil.set(settings, until)
      return 'general'
    }
  }

  /** Learns from the general statement that the endpoint holds as much as it may: from now on the oldest give way. */
  isFull(settings: CaptureSettings): void {
    if (this.full.has(settings)) return
    this.full.add(settings)
    this.generalUntil.delete(settings)
  }

  /** By endpoint, in id order as every other writer locks; undefined where the general statement is needed. */
  private groupsOf(captures: readonly EvaluatedCapture[]): Group[] | undefined {
    const groups = new Map<string, Group>()
    for (const capture of captures) {
      const { settings, needsId } = capture
      if (needsId) return undefined
      const group = groups.get(settings.endpointId)
      if (group === undefined) {
        if ((this.generalUntil.get(settings) ?? 0) > performance.now()) return undefined
        groups.set(settings.endpointId, { settings, captures: [capture] })
      } else if (group.settings === settings) group.captures.push(capture)
      else return undefined
    }
    if (groups.size > ENDPOINTS_MAX) return undefined
    return [...groups.values()].sort((a, b) => (a.settings.endpointId < b.settings.endpointId ? -1 : 1))
  }

  private addCount(pipeline: Pipeline, { settings, captures }: Group, aheadMs: number): void {
    const bytes = captures.reduce((sum, { row }) => sum + row.body.length, 0)
    const storageBytes = captures.reduce((sum, { row }) => sum + row.storageBytes, 0)
    const last = captures.reduce((latest, { row }) => Math.max(latest, row.receivedAt.getTime()), 0)
    pipeline.execute(this.full.has(settings) ? 'count and evict' : 'count', [
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
    ])
  }
}

/** Of each criteria that captures of the group met, how many came after the last of them. */
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
