import { openDatabase, overridePlans, systemClock } from '@creel/core'
import { findEmbeddedPostgres } from '@creel/program'
import { type BenchService, startBenchService } from './workspace.ts'

/** A running service, with core's services in this process for running the verbs of its jobs. */
export interface Workplace extends BenchService {
  /** core's services on the service's database. Queued jobs are dropped. */
  readonly services: ReturnType<typeof servicesOn>
}

/**
 * Starts a service and connects to its database.
 *
 * @param plans limits of other plans than Team, over lifted ones
 */
export async function openWorkplace(plans: Parameters<typeof startBenchService>[1] = {}): Promise<Workplace> {
  const service = await startBenchService({}, plans)
  const databaseUrl = await findEmbeddedPostgres(service.folder.dataDir)
  if (databaseUrl === undefined) throw new Error('The program runs without its database.')
  const database = openDatabase(databaseUrl, 4)
  return {
    ...service,
    services: servicesOn(database.db, service.folder.plans),
    async [Symbol.asyncDispose]() {
      await database.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

function servicesOn(db: ReturnType<typeof openDatabase>['db'], plans: object) {
  return {
    db,
    clock: systemClock,
    plans: overridePlans(plans),
    enqueue: async () => {},
    actor: { kind: 'service' as const, id: null, name: 'creel', address: null },
    auditRetentionDays: 365,
  }
}
