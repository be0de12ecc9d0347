import { type OpenDatabase, openDatabase, readsOf, type Services } from '@creel/core'
import { registry } from '@creel/core/platform/metrics'
import { CountsHub, createCountsMember } from '@creel/gateway'
import { type RunningService, type ServiceOptions, startService } from '@creel/program'
import { sql } from 'kysely'
import type { TestClock } from './clock.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

/** Connections of a service: few, since a test starts many services, and each connection must load the catalogue. */
export const MAX_CONNECTIONS = 5
/** Connections of its queue. */
export const QUEUE_CONNECTIONS = 2

/** Gateways of each service; a run by hand sets more than one. */
const GATEWAYS = Number(process.env.CREEL_TEST_GATEWAYS ?? '1')

/** Cells of each service; a run by hand sets more than one. The test's own database is the first. */
const CELLS = Number(process.env.CREEL_TEST_CELLS ?? '1')

/** A service with as many gateways, or cells, as the run asks for. */
export interface ServiceOfRun extends RunningService {
  /** Services of the last cell, for workspaces that live in another than the test's own; the service's own without cells. */
  readonly elsewhere: Services
}

/** Starts a service as the run asks for it. */
export async function startServiceOfRun(options: ServiceOptions, clock: TestClock): Promise<ServiceOfRun> {
  if (CELLS > 1) return await startInCells(options, clock)
  const service = await startProcesses(options, clock)
  return { ...service, elsewhere: service.services }
}

async function startInCells(options: ServiceOptions, clock: TestClock): Promise<ServiceOfRun> {
  const places = Array.from({ length: CELLS }, (_, at) => ({ name: `cell-${at + 1}`, number: at + 1 }))
  const [home, ...others] = places
  const service = await startService({ ...options, cell: home, cells: places })
  const open: { readonly database: OpenDatabase; readonly test: TestDatabase }[] = []
  let elsewhere = service.services
  for (const cell of others) {
    const test = await createTestDatabase()
    await clock.enter(test.url)
    const database = openDatabase(test.url, MAX_CONNECTIONS)
    open.push({ database, test })
    await service.addCell({ cell, database, databaseUrl: test.url, replica: undefined })
    const { db, searches } = database
    // Each cell counts from 1. A test that tries a number of another cell must not find one of its own.
    await sql`
      select setval(format('%I.%I', schemaname, sequencename)::regclass, ${1_000_000 * cell.number}::bigint)
      from pg_sequences where schemaname = 'public' and data_type = 'bigint'::regtype`.execute(db)
    elsewhere = { ...service.services, cell, db, searches, reads: readsOf(database) }
  }
  for (const place of places) service.noteCell(place, 'ok')
  return {
    ...service,
    elsewhere,
    async stop() {
      await service.stop()
      for (const { database, test } of open) {
        await database.close()
        await clock.leave(test.url)
        await test.drop()
      }
    },
  }
}

/**
 * Starts a service, with as many gateways on its port as the run asks for. They are in this process, because they share
 * the test's clock, and the first alone runs jobs.
 */
async function startProcesses(options: ServiceOptions, clock: TestClock): Promise<RunningService> {
  if (GATEWAYS === 1 || !options.parts.has('gateway')) return await startService(options)
  const hub = new CountsHub({ processes: GATEWAYS, nowMs: () => clock.now().getTime() })
  const membership = (isFirst: boolean) => {
    const joined = hub.join((totals) => counts.take(totals))
    const counts = createCountsMember(GATEWAYS, (reports) => joined.take(reports))
    const states = async () => ({ running: GATEWAYS, unready: 0 })
    return { counts, isFirst, metrics: () => registry.metrics(), states }
  }
  const first = await startService({ ...options, processes: membership(true) })
  const further: { stop(): Promise<void> }[] = []
  for (let at = 1; at < GATEWAYS; at += 1) {
    const database = openDatabase(options.databaseUrl, MAX_CONNECTIONS)
    const gateway = await startService({
      ...options,
      database,
      parts: new Set(['gateway'] as const),
      port: first.port ?? 0,
      processes: membership(false),
    })
    further.push({
      async stop() {
        await gateway.stop()
        await database.close()
      },
    })
  }
  return {
    ...first,
    async stop() {
      await Promise.all([first, ...further].map((each) => each.stop()))
      hub.close()
    },
  }
}
