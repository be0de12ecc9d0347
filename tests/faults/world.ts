import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { Client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { TEST_SECRET_KEY, temporaryFolder } from '../support/process.ts'
import { startService } from '../support/service.ts'
import { type KeptProcess, keepProcess } from './keeper.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { type Poller, startPoller, storedNumbers } from './poller.ts'
import type { Random } from './random.ts'
import { type Misbehaviour, startFaultyReceiver } from './receiver.ts'
import { type Senders, startSenders } from './senders.ts'

export interface WorldOptions {
  readonly random: Random
  readonly databaseUrl: string
  /** Gateways that run side by side; 2 by default. */
  readonly gateways?: number
  readonly senders?: { readonly parallel: number; readonly pauseMs: number }
  readonly misbehaviours?: readonly [Misbehaviour, ...Misbehaviour[]]
}

/** Senders, gateways, jobs and a receiver around one Postgres, each of which may be killed. */
export interface World extends AsyncDisposable {
  readonly gateways: readonly KeptProcess[]
  readonly jobs: KeptProcess
  readonly ledger: Ledger
  /** Resolves when `count` more captures are acknowledged. */
  acknowledgedMore(count: number): Promise<void>
  /** Ends the senders, delivers everything that is due, and compares the result with the ledger. */
  settle(): Promise<Findings>
}

/** Result after the faults. Every list is empty when nothing was lost. */
export interface Findings {
  readonly acknowledgedCount: number
  readonly lost: readonly number[]
  readonly storedTwice: readonly number[]
  readonly undelivered: readonly number[]
  /** Stored ids that a client following by `afterId` did not see, or saw out of order. */
  readonly skippedByPoller: readonly number[]
  readonly falseAnswers: readonly string[]
  /** The counter and the number of rows. */
  readonly counters: { readonly kept: number; readonly rows: number }
  readonly isReady: boolean
}

/** Permitted answers to senders while parts of the service are down. */
const HONEST_REFUSALS = new Set<number | 'no answer'>(['no answer', 503])
const LIMITS = { apiRatePerMinute: 1e9, captureRatePerMinute: 1e9, storedRequestsMax: 1e9 }
/** Step of the clock: more than the lease of an attempt (90 s) and the longest retry delay that the receiver causes. */
const STEP_MILLISECONDS = 100_000

/** Timeout for the restart of processes and PostgreSQL on a busy machine. */
const RECOVERY_SECONDS_MAX = 240

/** Builds the world and starts its traffic. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { random, databaseUrl, gateways: gatewayCount = 2 } = options
  const folder = await temporaryFolder()
  const plansFile = join(folder, 'plans.json')
  await writeFile(plansFile, JSON.stringify({ team: LIMITS }))
  const process = {
    database: { url: databaseUrl },
    env: { CREEL_PLANS_FILE: plansFile, CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8', CREEL_LOG_LEVEL: 'fatal' },
  }
  const gateway = () => keepProcess(process, ['--only', 'gateway'])
  // The first gateway makes the tables, and prints the key.
  const gateways = [gateway()]
  const key = (await gateways[0]?.up())?.first?.key ?? ''
  while (gateways.length < gatewayCount) gateways.push(gateway())
  const jobs = keepProcess(process, ['--only', 'jobs'])
  await Promise.all([...gateways.map((kept) => kept.up()), jobs.up()])
  const running = () => gateways.flatMap(({ current }) => (current === undefined ? [] : [current]))
  const client = () => {
    const [first] = running()
    return first && new Client(first.baseUrl, first.captureUrl, key, '')
  }

  const ledger = createLedger()
  const receiver = await startFaultyReceiver(ledger, random, {
    misbehaviours: options.misbehaviours ?? ['status 500', 'reset', 'short body'],
    probability: 0.05,
  })
  const endpoint = await client()?.endpoint({ forwardUrl: receiver.url })
  if (endpoint === undefined) throw new Error('No gateway is up.')
  const { id } = endpoint
  const senders: Senders = startSenders(
    ledger,
    () => running().map(({ captureUrl }) => `${captureUrl}/hook/${id}`),
    options.senders ?? { parallel: 6, pauseMs: 15 },
  )
  const poller: Poller = startPoller(client, id)

  const settle = async (): Promise<Findings> => {
    await senders.stop()
    await gateways[0]?.up()
    await jobs.stop()
    await deliverDue(databaseUrl)
    await poller.stop()
    const gateway = await gateways[0]?.up()
    const stored = await storedNumbers(new Client(gateway?.baseUrl ?? '', '', key, ''), id)
    const ids = [...stored.values()].flat().sort((a, b) => a - b)
    const ready = await fetch(`${gateway?.baseUrl}/readyz`)
    return {
      acknowledgedCount: ledger.acknowledgedNumbers.size,
      lost: [...ledger.acknowledgedNumbers].filter((number) => !stored.has(number)),
      storedTwice: [...stored].flatMap(([number, rows]) => (rows.length > 1 ? [number] : [])),
      undelivered: [...stored.keys()].filter((number) => !ledger.deliveries.has(number)),
      skippedByPoller: ids.filter((stored, at) => poller.seen[at] !== stored),
      falseAnswers: [...ledger.refusals].flatMap(([answer, count]) =>
        HONEST_REFUSALS.has(answer) ? [] : [`${answer}: ${count}`],
      ),
      counters: await counters(databaseUrl, id),
      isReady: ready.ok,
    }
  }

  return {
    gateways,
    jobs,
    ledger,
    async acknowledgedMore(count) {
      const goal = ledger.acknowledgedNumbers.size + count
      const isReached = () => ledger.acknowledgedNumbers.size >= goal
      await eventually(`${goal} acknowledged captures`, isReached, { seconds: RECOVERY_SECONDS_MAX })
    },
    settle,
    async [Symbol.asyncDispose]() {
      await senders.stop()
      await Promise.all([...gateways, jobs].map((kept) => kept.stop()))
      await receiver[Symbol.asyncDispose]()
    },
  }
}

/**
 * Runs jobs on a clock that jumps, until nothing is due, so that leases of dead workers and retry delays pass at once.
 */
async function deliverDue(databaseUrl: string): Promise<void> {
  const database = openDatabase(databaseUrl, 2)
  const service = await startService({
    database: { url: databaseUrl, drop: async () => {} },
    parts: ['jobs'],
    secretKey: Buffer.from(TEST_SECRET_KEY, 'base64'),
  })
  try {
    while ((await openDeliveries(database)) > 0) {
      await service.clock.advance(STEP_MILLISECONDS)
      const before = await openDeliveries(database)
      // Waits until the jobs that the jump made due have changed something, or there were none.
      for (let look = 0; look < 50 && before > 0 && (await openDeliveries(database)) === before; look += 1) {
        await Bun.sleep(20)
      }
    }
  } finally {
    await service.stop()
    await database.close()
  }
}

async function openDeliveries({ db }: ReturnType<typeof openDatabase>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from deliveries where finished_at is null`.execute(db)
  return rows[0]?.count ?? 0
}

async function counters(databaseUrl: string, endpointId: string): Promise<Findings['counters']> {
  const database = openDatabase(databaseUrl, 1)
  try {
    const { rows } = await sql<Findings['counters']>`
      select c.stored_request_count as kept,
             (select count(*)::int from requests r where r.endpoint_id = c.endpoint_id) as rows
      from endpoint_counters c where c.endpoint_id = ${endpointId}`.execute(database.db)
    return rows[0] ?? { kept: -1, rows: -2 }
  } finally {
    await database.close()
  }
}
