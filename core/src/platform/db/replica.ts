import { sql } from 'kysely'
import { sleep, within } from '../time/index.ts'
import { isDatabaseOutage } from './failures.ts'
import type { Db } from './handles.ts'
import type { OpenDatabase } from './open.ts'

/** The connections that a read uses: of the primary, or of a replica. */
export type ReadDatabase = Pick<OpenDatabase, 'db' | 'searches'>

/** Where lists and searches are read. */
export interface Reads {
  /**
   * Runs a read on the replica, once that has replayed everything that was committed when the call came: what a caller was
   * told is stored, it finds. Where the replica does not get there soon, or fails, on the primary.
   *
   * @param read changes nothing; it may run twice
   * @throws what `read` throws on the primary, and on the replica what has nothing to do with the replica
   */
  run<Result>(read: (database: ReadDatabase) => Promise<Result>): Promise<Result>
  /** How the replica does; null without one. */
  state(): Promise<ReplicaState | null>
}

/** How far a replica is behind its primary. */
export interface ReplicaState {
  /** Whether it answers and replays the log of this primary. */
  readonly isUsable: boolean
  /** Of the log, not replayed yet; null where it is not usable. */
  readonly lagBytes: number | null
  /** Since the commit that it replayed last, where there is more to replay; else 0. Null where it is not usable. */
  readonly lagSeconds: number | null
}

/** What becomes of reads, for whoever counts them. */
export interface ReadsObserver {
  /** A read ran there. */
  readonly ran: (where: 'replica' | 'primary') => void
  /** The replica stopped or began to be of use; `reason` is for the log. */
  readonly changed: (isUsable: boolean, reason: unknown) => void
}

/** For so long a read waits for the replica: longer than a healthy one takes, shorter than anybody minds. */
const WAIT_MS = 100
const POLL_MS = 3
/** A replica that does not answer by then is out of reach. */
const ANSWER_MS = 1_000
/** After a failure, or a wait in vain, the replica is left alone for so long. */
const REST_MS = 1_000

/** The replica does not replay what the primary writes: another installation's, or promoted. */
class NotAReplica extends Error {
  override readonly name = 'NotAReplica'
}

/** Everything on the primary: without a replica. */
export function readsOf(primary: ReadDatabase): Reads {
  return { run: (read) => read(primary), state: () => Promise.resolve(null) }
}

/** Reads of a primary and its replica. */
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
    // Another server is the primary now: what the replica holds may not be its past.
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
    if (seen === undefined) throw new Error(`The replica did not answer within ${ANSWER_MS} ms.`)
    return seen
  }
  // All who wait share one look at a time.
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
      if ((await sharedLook()) >= position) return true
      if (performance.now() >= deadline) return false
      await sleep(POLL_MS)
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

  return {
    async run(read) {
      if (await mayRead()) {
        try {
          const result = await read(replica)
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
        return { isUsable: true, lagBytes, lagSeconds: lagBytes === 0 ? 0 : await secondsBehind(replica.db) }
      } catch (error) {
        rest(error)
        return { isUsable: false, lagBytes: null, lagSeconds: null }
      }
    },
  }
}

/** Everything that a client was told is stored is before this place of the log; which log it is, changes with each failover. */
async function committedOn(primary: Db): Promise<{ position: string; timeline: string }> {
  const { rows } = await sql<{ position: string; timeline: string }>`
    select (at - '0/0'::pg_lsn)::text as position, left(pg_walfile_name(at), 8) as timeline
    from pg_current_wal_flush_lsn() as at`.execute(primary)
  return rows[0] ?? { position: '0', timeline: '' }
}

async function replayedBy(replica: Db): Promise<bigint> {
  const { rows } = await sql<{ position: string | null }>`
    select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::text end as position
  `.execute(replica)
  const position = rows[0]?.position ?? null
  if (position === null) throw new NotAReplica('It is no replica: it takes writes.')
  return BigInt(position)
}

async function secondsBehind(replica: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(greatest(0, extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())), 0)::float8
      as seconds`.execute(replica)
  return rows[0]?.seconds ?? 0
}

/** @throws NotAReplica unless the replica is of the same installation and follows the same log */
async function requireReplicaOf(primary: Db, replica: Db, timeline: string): Promise<void> {
  const identity = async (db: Db) => {
    const { rows } = await sql<{ identity: string }>`
      select (select system_identifier from pg_control_system())::text || ' ' || current_database() as identity
    `.execute(db)
    return rows[0]?.identity
  }
  const [ours, theirs] = await Promise.all([identity(primary), identity(replica)])
  if (ours !== theirs) throw new NotAReplica('It is a replica of another database.')
  // After a failover it becomes so with the first restart point, within `checkpoint_timeout`.
  const { rows } = await sql<{ timeline: string }>`
    select upper(lpad(to_hex(greatest(
      (select timeline_id from pg_control_checkpoint()),
      (select min_recovery_end_timeline from pg_control_recovery()))), 8, '0')) as timeline`.execute(replica)
  if (rows[0]?.timeline !== timeline) throw new NotAReplica('It follows a former primary.')
}

/** Conflicts with the replay end a query there; the primary knows none. */
const RECOVERY_CONFLICTS = new Set(['40001', '40P01'])

function isOfReplica(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return RECOVERY_CONFLICTS.has(code) || isDatabaseOutage(error)
}
