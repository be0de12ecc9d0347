import { isDeepStrictEqual } from 'node:util'
import { QUEUES } from '@creel/core'
import { endWhenGone, isDeadlock, poolOf } from '@creel/core/platform/db'
import { type ConstructorOptions, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'

/** Default size of the connection pool: of a process that works, and of one that only sends. */
const WORKING_CONNECTIONS = 6
const SENDING_CONNECTIONS = 2

/** Time without an answer after which a connection is given up: a network may lose it without an error. */
const QUERY_MILLISECONDS_MAX = 65_000

/** The same for maintenance, and for changes of the schema: those of millions of jobs take less. */
const MAINTENANCE_MILLISECONDS_MAX = 600_000

/** How their statements begin. They have no parameters. */
const MAINTENANCE = /^\s*(begin|create|alter|drop|reindex|vacuum|analyze|delete)\b/i

/** Interval of the search for jobs of dead workers. */
const SUPERVISE_SECONDS = 10

/**
 * Makes a pg-boss that sends jobs. {@link startWorkers} makes it work on them. Every process needs one: core enqueues
 * through it. `patches/` keeps a listener for errors on its LISTEN connection until that has ended: PostgreSQL may end it
 * at the same time, and an error without a listener ends the process.
 *
 * @param url the database; pg-boss opens its own small pool and, with workers, one LISTEN connection
 * @param options `clock` for tests; spies are on with it; `connections` bounds the pool of a process that works
 */
export function createBoss(
  url: string,
  {
    log,
    works,
    clock,
    connections = WORKING_CONNECTIONS,
  }: {
    log: Logger
    works: boolean
    clock?: NonNullable<ConstructorOptions['clock']>
    connections?: number
  },
): PgBoss {
  // No limit of a statement: its maintenance may take longer than ours may.
  const pool = {
    ...poolOf(url),
    onConnect: async (client: Session) => {
      await endWhenGone(client)
      client.query = waitingForMaintenance(client)
    },
    query_timeout: QUERY_MILLISECONDS_MAX,
  }
  const boss = new PgBoss({
    ...pool,
    application_name: 'creel-jobs',
    max: works ? connections : SENDING_CONNECTIONS,
    useListenNotify: works,
    schedule: works,
    supervise: works,
    // A job whose worker died is retried after its heartbeat and this interval. Finished jobs are deleted soon after
    // their time.
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: 60,
    ...(clock === undefined ? {} : { clock, __test__enableSpies: true }),
  })
  boss.on('error', (error: unknown) => log.warn({ err: errorOf(error) }, 'job queue error'))
  return boss
}

type Session = Parameters<typeof endWhenGone>[0]

/** A connection's `query` that waits longer for the answer to maintenance. */
function waitingForMaintenance(client: Session): Session['query'] {
  return new Proxy(client.query, {
    apply(query, _, given) {
      const [text, ...others] = given
      const isLong = typeof text === 'string' && MAINTENANCE.test(text)
      const asked = isLong ? { text, query_timeout: MAINTENANCE_MILLISECONDS_MAX } : text
      return Reflect.apply(query, client, [asked, ...others])
    },
  })
}

/** A queue of former versions, whose jobs named attempts of deliveries; they wait in lanes now. */
const FORMER_QUEUE = 'deliveries.attempt'
const DELETE_TRIES_MAX = 10

/** Creates the queues that are missing, updates those that differ, and deletes a former one. Safe to call from several processes at once. */
export async function createQueues(boss: PgBoss): Promise<void> {
  const queues = new Map((await boss.getQueues()).map((known) => [known.name, known]))
  if (queues.has(FORMER_QUEUE)) await deleteFormer(boss)
  for (const { name, options } of QUEUES) {
    const known = queues.get(name)
    // Policy and partition are fixed when a queue is made.
    const { policy, partition, ...changeable } = { notify: true, ...options }
    if (known === undefined) {
      const fixed = { policy: policy ?? 'standard', partition: partition ?? false }
      await boss.createQueue(name, { ...changeable, ...fixed })
    } else if (!isDeepStrictEqual({ ...known, ...changeable }, known))
      await boss.updateQueue(name, changeable)
  }
}

/** Its table is dropped, which can meet a deadlock with the maintenance of all queues. */
async function deleteFormer(boss: PgBoss): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      return await boss.deleteQueue(FORMER_QUEUE)
    } catch (error) {
      if (tries === DELETE_TRIES_MAX || !isDeadlock(error)) throw error
    }
}

/** pg-boss also emits objects that resemble errors, with the context of the work. This keeps the error itself. */
function errorOf(thrown: unknown): Error {
  if (thrown instanceof Error || typeof thrown !== 'object' || thrown === null) {
    return thrown instanceof Error ? thrown : new Error(String(thrown))
  }
  const { message, code }: { message?: unknown; code?: unknown } = thrown
  return Object.assign(new Error(String(message)), code === undefined ? {} : { code })
}
