import { restFor, within } from '../time/index.ts'
import { codeOf, isDatabaseOutage } from './failures.ts'
import type { OpenDatabase } from './open.ts'
import { type Db, run, statement } from './statement.ts'

/** The connections that a read uses: of the primary, or of a replica. */
export type ReadDatabase = Pick<OpenDatabase, 'db' | 'searches'>

/** Routes lists and searches to the replica or the primary. */
export interface Reads {
  /**
   * Runs a read on the replica, once it has replayed everything that was committed before the call. So a caller finds
   * everything whose storing was confirmed. If the replica does not catch up soon, or fails, the read runs on the
   * primary.
   *
   * @param read changes nothing; it may run twice
   * @throws an error of `read` on the primary, or one on the replica that the replica did not cause
   */
  run<Result>(read: (database: ReadDatabase) => Promise<Result>): Promise<Result>
  /** State of the replica; null without one. */
  state(): Promise<ReplicaState | null>
}

export interface ReplicaState {
  /** Whether it answers and replays the log of this primary. */
  readonly isUsable: boolean
  /** Bytes of the log that are not replayed yet; null when it is not usable. */
  readonly lagBytes: number | null
  /** Seconds since the last replayed commit if there is more to replay, else 0; null when it is not usable. */
  readonly lagSeconds: number | null
}

/** Callbacks for metrics and the log. */
export interface ReadsObserver {
  readonly ran: (where: 'replica' | 'primary') => void
  /** The replica became usable or unusable; `reason` is for the log. */
  readonly changed: (isUsable: boolean, reason: unknown) => void
}

/** Timeout for the replica to catch up: longer than a healthy one takes, too short to be noticed. */
const WAIT_MS = 100
const POLL_MS = 3
/** Timeout after which the replica counts as unreachable. */
const ANSWER_MS = 1_000
/** Pause before the replica is used again after a failure or a timeout. */
const REST_MS = 1_000

/** The server does not replay the primary's log: it belongs to another installation, or was promoted. */
class NotAReplica extends Error {
  override readonly name = 'NotAReplica'
}

/** The server takes connections and does not answer, as a machine that hangs does. */
class SilentReplica extends Error {
  override readonly name = 'SilentReplica'
}

/** Runs all reads on the primary, without a replica. */
export function readsOf(primary: ReadDatabase): Reads {
  return { run: (read) => read(primary), state: () => Promise.resolve(null) }
}

/** Runs reads on the replica where possible, else on the primary. */
export function readsWithReplica(
  primary: ReadDatabase,
  replica: ReadDatabase,
  { ran, changed }: ReadsObserver,
): Reads {
  let wasUsable: boolean | undefined
  let isSame = false
  let timeline = ''
  let restsUntil = 0
  let replayed = 0n

  const note = (isUsable: boolean, reason: unknown) => {
    if (isUsable !== wasUsable) changed(isUsable, reason)
    wasUsable = isUsable
  }
  const rest = (error: unknown) => {
    restsUntil = performance.now() + REST_MS
    // Another server may answer at the address next time.
    isSame = false
    note(false, error)
  }

  const committed = async (): Promise<bigint> => {
    const { position, timeline: present } = await committedOn(primary.db)
    // Another server is the primary now. The replica may not follow it.
    if (present !== timeline) isSame = false
    timeline = present
    return BigInt(position)
  }
  const look = async (): Promise<bigint> => {
    if (!isSame) await requireReplicaOf(primary.db, replica.db, timeline)
    isSame = true
    replayed = await replayedBy(replica.db)
    note(true, undefined)
    return replayed
  }
  const lookInTime = async () => {
    const seen = await within(look(), ANSWER_MS)
    if (seen === undefined) throw new SilentReplica(`The replica did not answer within ${ANSWER_MS} ms.`)
    return seen
  }
  // All waiting reads share one query at a time.
  let looking: Promise<bigint> | undefined
  const sharedLook = () => {
    looking ??= lookInTime().finally(() => {
      looking = undefined
    })
    return looking
  }

  const hasReplayed = async (position: bigint): Promise<boolean> => {
    if (isSame && replayed >= position) return true
    for (const deadline = performance.now() + WAIT_MS; ; ) {
      const seen = await within(sharedLook(), deadline - performance.now())
      if (seen === undefined) return false
      if (seen >= position) return true
      if (performance.now() >= deadline) return false
      await restFor(POLL_MS)
    }
  }

  const mayRead = async (): Promise<boolean> => {
    if (performance.now() < restsUntil) return false
    try {
      if (await hasReplayed(await committed())) return true
      restsUntil = performance.now() + REST_MS
    } catch (error) {
      rest(error)
    }
    return false
  }

  /** The result of a read, while the replica answers others. A read that it no longer answers must not be waited for. */
  const whileItAnswers = async <Result>(reading: Promise<Result>): Promise<Result> => {
    const read = reading.then((result) => ({ result }))
    for (;;) {
      const ended = await within(read, ANSWER_MS)
      if (ended !== undefined) return ended.result
      await sharedLook()
    }
  }

  const secondsBehind = async () => (await run(replica.db, BEHIND, []))[0]?.seconds ?? 0

  return {
    async run(read) {
      if (await mayRead()) {
        try {
          const result = await whileItAnswers(read(replica))
          ran('replica')
          return result
        } catch (error) {
          if (!isOfReplica(error)) throw error
          rest(error)
        }
      }
      ran('primary')
      return await read(primary)
    },
    async state() {
      try {
        const position = await committed()
        const at = await sharedLook()
        const lagBytes = position > at ? Number(position - at) : 0
        return { isUsable: true, lagBytes, lagSeconds: lagBytes === 0 ? 0 : await secondsBehind() }
      } catch (error) {
        rest(error)
        return { isUsable: false, lagBytes: null, lagSeconds: null }
      }
    },
  }
}

const COMMITTED = statement(
  'position of primary',
  `select (at - '0/0'::pg_lsn)::text as position, left(pg_walfile_name(at), 8) as timeline
  from pg_current_wal_flush_lsn() as at`,
  { isPrepared: false, notNull: ['position', 'timeline'] },
)

/**
 * Position in the log before which every confirmed write lies, and the log's timeline, which changes with each
 * failover.
 */
async function committedOn(primary: Db): Promise<{ position: string; timeline: string }> {
  const rows = await run(primary, COMMITTED, [])
  return rows[0] ?? { position: '0', timeline: '' }
}

const REPLAYED = statement(
  'position of replica',
  `select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::text end as position`,
  { isPrepared: false },
)

async function replayedBy(replica: Db): Promise<bigint> {
  const rows = await run(replica, REPLAYED, [])
  const position = rows[0]?.position ?? null
  if (position === null) throw new NotAReplica('It is no replica: it takes writes.')
  return BigInt(position)
}

const BEHIND = statement(
  'seconds behind',
  `select coalesce(greatest(0, extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())), 0)::float8
    as seconds`,
  { isPrepared: false },
)

const IDENTITY = statement(
  'identity of database',
  `select (select system_identifier from pg_control_system())::text || ' ' || current_database() as identity`,
  { isPrepared: false, notNull: ['identity'] },
)

const TIMELINE = statement(
  'timeline of replica',
  `select upper(lpad(to_hex(greatest(
    (select timeline_id from pg_control_checkpoint()),
    (select min_recovery_end_timeline from pg_control_recovery()))), 8, '0')) as timeline`,
  { isPrepared: false },
)

/** @throws NotAReplica unless the replica is of the same installation and follows the same log */
async function requireReplicaOf(primary: Db, replica: Db, timeline: string): Promise<void> {
  const identity = async (db: Db) => {
    const rows = await run(db, IDENTITY, [])
    return rows[0]?.identity
  }
  const [ours, theirs] = await Promise.all([identity(primary), identity(replica)])
  if (ours !== theirs) throw new NotAReplica('It is a replica of another database.')
  // After a failover the timelines agree from the first restart point on, within `checkpoint_timeout`.
  const rows = await run(replica, TIMELINE, [])
  if (rows[0]?.timeline !== timeline) throw new NotAReplica('It follows a former primary.')
}

/** Codes of queries that the replay on a replica ended. They do not occur on the primary. */
const RECOVERY_CONFLICTS = new Set(['40001', '40P01'])

function isOfReplica(error: unknown): boolean {
  return (
    RECOVERY_CONFLICTS.has(codeOf(error) ?? '') || isDatabaseOutage(error) || error instanceof SilentReplica
  )
}
