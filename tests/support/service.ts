import { afterEach } from 'bun:test'
import { randomBytes, randomUUID } from 'node:crypto'
import { type Db, openDatabase } from '@creel/core'
import { createOperatorCaller } from '@creel/core/operator'
import { type Limits, type PlanKey, withLimits } from '@creel/core/plans'
import type { HttpLimits } from '@creel/gateway'
import type { RunningService, ServiceOptions, ServicePart } from '@creel/program'
import { type Logger, pino } from 'pino'
import { atEnd } from './atEnd.ts'
import { Client } from './client.ts'
import { TestClock } from './clock.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { MAX_CONNECTIONS, QUEUE_CONNECTIONS, startServiceOfRun } from './serviceOfRun.ts'

export interface TestServiceOptions {
  /** The plan of Alice's and Charlie's workspaces; Team by default. */
  readonly plan?: PlanKey
  /** Override the limits of every plan. */
  readonly limits?: Partial<Limits>
  /** Override the limits of some plans only, for tests of other limits on the same service. */
  readonly planLimits?: Partial<Readonly<Record<PlanKey, Partial<Limits>>>>
  /** Both by default. */
  readonly parts?: readonly ServicePart[]
  /** Loopback by default, for local receivers. */
  readonly allowDestinations?: readonly string[]
  /** A database that several services share; by default a new clone of the template. */
  readonly database?: TestDatabase
  /** A clock that several services share. */
  readonly clock?: TestClock
  readonly secretKey?: Uint8Array
  /** Keys of secrets that are not resealed yet. */
  readonly formerSecretKeys?: readonly Uint8Array[]
  readonly log?: Logger
  /** Trusted proxies. Their `X-Forwarded-For` is believed. Empty by default. */
  readonly trustedProxies?: readonly string[]
  /** Override the usual limits of connections. */
  readonly connectionLimits?: Partial<HttpLimits>
  /** Public base of capture URLs, if it differs from the port, as behind a proxy. */
  readonly captureUrl?: string
  /** A mail server; none by default. */
  readonly smtpUrl?: string
  /** Seconds between one attempt of a delivery and the next; the shipped schedule by default. */
  readonly retryDelaysSeconds?: readonly number[]
  /** The most bytes of all captures; unlimited by default. */
  readonly storageMaxBytes?: number
  /** Public base URL, if it differs from the port. */
  readonly baseUrl?: string
  /** Base addresses of alert providers' APIs, by channel kind. */
  readonly alertApiUrls?: Readonly<Record<string, string>>
  /** Base addresses of senders' APIs, by provider. */
  readonly providerApiUrls?: Readonly<Record<string, string>>
  /** URL of a replica of the database; none by default. */
  readonly replicaUrl?: string
  /** Whether browsers can sign in; true by default. */
  readonly hasConsole?: boolean
  /** Whether agents can sign in by OAuth; true by default. */
  readonly hasOAuth?: boolean
  /** The console's files; none by default. */
  readonly consolePack?: Uint8Array<ArrayBuffer>
}

/** The service, run in the test's process behind real HTTP. Stopped when the test file ends, or by `stop`. */
export interface TestService {
  readonly baseUrl: string
  readonly captureUrl: string
  readonly clock: TestClock
  readonly running: RunningService
  readonly database: TestDatabase
  readonly db: Db
  readonly secretKey: Uint8Array
  /** Owner of a workspace. */
  readonly alice: Client
  /** A revoked key of Alice's workspace. */
  readonly bob: Client
  /** Owner of another workspace, which must never see anything of Alice's. */
  readonly charlie: Client
  /** Caller of the operator's procedures, as the operator's commands use it. */
  readonly operator: ReturnType<typeof createOperatorCaller>
  /** A new workspace with one key. */
  newClient(plan?: PlanKey): Promise<Client>
  /** Adds a job and waits until a worker has completed it. */
  runJob(name: string, payload: object): Promise<void>
  stop(): Promise<void>
}

/**
 * {@link startService} for a file whose tests need a service each. It is stopped when its test ends, not at the end of
 * the file: together they would take all connections of the run's PostgreSQL.
 */
export function servicePerTest(): typeof startService {
  const started: TestService[] = []
  afterEach(async () => {
    for (const service of started.splice(0)) await service.stop()
  })
  return async (options) => {
    const service = await startService(options)
    // Services that share another's database end before it.
    started.unshift(service)
    return service
  }
}

/** Starts a service on a fresh database, with Alice, Bob and Charlie in it. */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const testDatabase = options.database ?? (await createTestDatabase())
  const database = openDatabase(testDatabase.url, MAX_CONNECTIONS)
  const replica =
    options.replicaUrl === undefined ? undefined : openDatabase(options.replicaUrl, MAX_CONNECTIONS)
  const clock = options.clock ?? new TestClock()
  const secretKey = options.secretKey ?? randomBytes(32)
  await clock.enter(testDatabase.url)
  const serviceOptions = {
    database,
    replica,
    databaseUrl: testDatabase.url,
    parts: new Set(options.parts ?? ['gateway', 'jobs']),
    host: '127.0.0.1',
    port: 0,
    baseUrl: options.baseUrl,
    captureUrl: options.captureUrl,
    secretKey,
    formerSecretKeys: options.formerSecretKeys ?? [],
    queueConnections: QUEUE_CONNECTIONS,
    plans: withLimits((plan) => ({ ...options.limits, ...options.planLimits?.[plan] })),
    allowDestinations: options.allowDestinations ?? ['127.0.0.0/8'],
    mail: { smtpUrl: options.smtpUrl, from: 'Creel <alerts@creel.example.test>' },
    storageMaxBytes: options.storageMaxBytes ?? null,
    alertApiUrls: options.alertApiUrls ?? {},
    // Ports without a listener, so that no test calls the public addresses.
    providerApiUrls: options.providerApiUrls ?? {
      stripe: 'http://127.0.0.1:9',
      github: 'http://127.0.0.1:9',
    },
    hasConsole: options.hasConsole ?? true,
    hasOAuth: options.hasOAuth ?? true,
    consolePack: options.consolePack,
    retryDelaysSeconds: options.retryDelaysSeconds,
    log: options.log ?? pino({ level: process.env.CREEL_TEST_LOG ?? 'silent' }),
    trustedProxies: options.trustedProxies ?? [],
    // A client that uses an idle connection again just when it is closed sees a reset.
    connectionLimits: { idleSeconds: 3600, ...options.connectionLimits },
    clock,
    jobClock: clock.jobs,
    version: '0.0.0-test',
  } satisfies ServiceOptions
  const service = await startServiceOfRun(serviceOptions, clock)
  const operator = createOperatorCaller(service.services)
  const { baseUrl, captureUrl } = service.urls
  const clientOf = (key: string, workspaceId: string, keyId = '') =>
    new Client(baseUrl, captureUrl, key, workspaceId, keyId)
  const newClient = async (plan: PlanKey = options.plan ?? 'team', by = operator) => {
    const workspace = await by.workspaces.create({ name: `workspace ${randomUUID()}`, plan })
    const { key } = await by.keys.create({ workspace: workspace.id, name: 'test' })
    const [made] = await by.keys.list({ workspace: workspace.id })
    return clientOf(key, workspace.id, made?.id)
  }

  const alice = await newClient()
  const { key: bobsKey, prefix } = await operator.keys.create({ workspace: alice.workspaceId, name: 'bob' })
  await operator.keys.revoke({ workspace: alice.workspaceId, key: prefix })
  let stopped: Promise<void> | undefined
  const testService: TestService = {
    baseUrl,
    captureUrl,
    clock,
    running: service,
    database: testDatabase,
    db: database.db,
    secretKey,
    alice,
    bob: clientOf(bobsKey, alice.workspaceId),
    charlie: await newClient(undefined, createOperatorCaller(service.elsewhere)),
    operator,
    newClient: (plan) => newClient(plan),
    async runJob(name, payload) {
      const spy = service.boss.getSpy(name)
      // A unique key, since a queue with one job at a time holds one of each key.
      const id = await service.boss.send(name, payload, { singletonKey: randomUUID() })
      if (id === null) throw new Error(`The queue ${name} takes no other job now.`)
      await spy.waitForJobWithId(id, 'completed')
    },
    stop() {
      stopped ??= (async () => {
        forget()
        await service.stop()
        await replica?.close()
        await database.close()
        if (options.database === undefined) await testDatabase.drop()
        else await clock.leave(testDatabase.url)
      })()
      return stopped
    },
  }
  const borrows = options.database !== undefined || options.clock !== undefined
  const forget = atEnd(borrows ? 'borrowers' : 'owners', testService.stop)
  return testService
}
