import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, overridePlans, systemClock } from '@creel/core'
import { findEmbeddedPostgres } from '@creel/program'
import { z } from 'zod'
import { type CreelProcess, creel, startCreel } from './creelProcess.ts'

const UNLIMITED = 2_000_000_000

export interface BenchEndpoint {
  readonly id: string
  readonly url: string
}

/** The real program on a fresh embedded Postgres, its database, and one workspace with a key. */
export interface Workplace {
  readonly service: CreelProcess
  /** core's services on the same database, for verbs that jobs would run. Queued jobs go nowhere. */
  readonly services: ReturnType<typeof servicesOn>
  readonly workspaceId: string
  call(method: string, path: string, body?: object): Promise<unknown>
  endpoint(): Promise<BenchEndpoint>
  /** Stops the program and removes everything. */
  leave(): Promise<void>
}

/** @param limits of the Team plan, over ones that no benchmark reaches */
export async function openWorkplace(limits: Readonly<Record<string, number>> = {}): Promise<Workplace> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-bench-'))
  // Postgres runs as another user when this one is root.
  await chmod(folder, 0o711)
  const plans = {
    team: {
      apiRatePerMinute: UNLIMITED,
      captureRatePerMinute: UNLIMITED,
      storedRequestsMax: UNLIMITED,
      watchdogsMax: UNLIMITED,
      endpointsMax: UNLIMITED,
      ...limits,
    },
  }
  const plansFile = join(folder, 'plans.json')
  await writeFile(plansFile, JSON.stringify(plans))
  const dataDir = join(folder, 'data')
  const env = { CREEL_DATA_DIR: dataDir, CREEL_PLANS_FILE: plansFile, PATH: process.env.PATH ?? '' }
  const service = await startCreel(env)
  const databaseUrl = await findEmbeddedPostgres(dataDir)
  if (databaseUrl === undefined) throw new Error('The program runs without its database.')
  const database = openDatabase(databaseUrl, 4)
  const { id: workspaceId = '' } = await creel(['workspace', 'create', '--name', 'bench'], env)
  const { key = '' } = await creel(['key', 'create', '--workspace', workspaceId, '--name', 'bench'], env)

  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(service.baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  return {
    service,
    services: servicesOn(database.db, plans),
    workspaceId,
    call,
    endpoint: async () =>
      z.object({ id: z.string(), url: z.string() }).parse(await call('POST', '/api/v1/endpoints', {})),
    async leave() {
      await database.close()
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function servicesOn(db: ReturnType<typeof openDatabase>['db'], plans: object) {
  return { db, clock: systemClock, plans: overridePlans(plans), enqueue: async () => {} }
}
