import { constants, link, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { restFor } from '@creel/core/platform/time'
import type { Logger } from 'pino'
import { syncFolder } from '../dataFolder.ts'
import { withClient } from './cluster.ts'
import type { PostgresHome } from './home.ts'

/** Size of a segment of the WAL, in bytes: PostgreSQL's default, which the cluster is made with. */
const SEGMENT_BYTES = 16 * 1024 * 1024
const SEGMENTS_PER_LOG = 0x1_0000_0000 / SEGMENT_BYTES
/** Segments that are kept ready in an idle service: about 40,000 captures of 1 KB, so that a flood does not overtake the first ones. */
const READY_IDLE = 4
/** The same once segments are used up. */
const READY_BUSY = 8
/** The most bytes of disk that segments ahead of the WAL take. */
export const WAL_ROOM_BYTES = READY_BUSY * SEGMENT_BYTES

/** Delay before the first segment is made, so that the start of the service is not slowed down. */
const BEGIN_MS = 1000
const POLL_MS = 100
/** Part of a segment that is used when it is too late to make the next one. */
const LATE = 0.5
/** Part of a segment before the next one that sessions may fill while the name of that one becomes durable. */
const NEAR = 1 / 16
/** Interval of reading the WAL's position if there is no sign of a change. */
const LOOK_MS = 30_000
/**
 * A segment is written in pieces past the system's cache, so that commits find the disk free. A sync after each piece
 * would commit the journal of the file system sixteen times, and every commit of PostgreSQL would wait for it.
 */
const PIECE_BYTES = 256 * 1024
const PIECE_PAUSE_MS = 1
/**
 * In a flood a timer fires late, since the process is busy. The next write then has a further piece for each so many
 * milliseconds, or sessions would overtake: a segment takes three turns a piece and lasts a second.
 */
const LATE_MS_OF_PIECE = 3
/** The most pieces that are written at once. */
const PIECES_AT_ONCE = 8
/** The fewest while sessions use up segments faster than they are made, as when a vacuum follows a checkpoint. */
const PIECES_HURRIED = 4
/** Linux only; elsewhere pieces go through the cache. */
const PAST_CACHE = constants.O_DIRECT ?? 0

/** Segments of the WAL that are made ahead of their use. */
export interface WalRoom {
  /** Resolves when no file is being written any more. */
  stop(): Promise<void>
}

/**
 * Keeps empty segments of the WAL ready. Without one, the commit that fills a segment writes the next, 16 MB of zeros,
 * while all other commits wait: 50 ms every 10,000 captures, until checkpoints have recycled enough old segments.
 * PostgreSQL uses a file that is there already, as it does with recycled ones; its own are never replaced.
 *
 * Best effort: a failure only brings back the stall. It is logged once.
 *
 * @param url URL of a database of the cluster
 */
export function keepWalRoom(home: PostgresHome, url: string, log: Pick<Logger, 'warn'>): WalRoom {
  const folder = join(home.clusterFolder, 'pg_wal')
  const stopping = new AbortController()
  let hasFailed = false

  const fill = async (previous: Segment | undefined): Promise<Segment> => {
    const current = await currentSegment(url)
    const isBusy = previous !== undefined && previous.number !== current.number
    // A session that needs the next segment makes it itself. Making the same one would only keep the disk busy.
    const first = isBusy && current.used > LATE ? 2 : 1
    for (let ahead = first; ahead <= (isBusy ? READY_BUSY : READY_IDLE); ahead += 1) {
      const fileOf = (of: number) => join(folder, segmentName({ ...current, number: current.number + of }))
      const file = fileOf(ahead)
      if ((await changedAt(file)) !== undefined) continue
      const before = await changedAt(fileOf(ahead - 1))
      const isFarOff = async () => {
        if (ahead > 1) return (await changedAt(fileOf(ahead - 1))) === before
        const now = await currentSegment(url)
        return now.number === current.number && now.used < 1 - NEAR
      }
      const piecesMin = isBusy && ahead <= READY_IDLE ? PIECES_HURRIED : 1
      await makeSegment({ file, home, isFarOff, piecesMin, stopped: stopping.signal })
    }
    return current
  }

  /** Waits until PostgreSQL writes to the segment after `current`, or for 30 s. */
  const nextUse = async (current: Segment) => {
    const next = join(folder, segmentName({ ...current, number: current.number + 1 }))
    const made = await changedAt(next)
    // A slow disk takes seconds to fill: sessions may have gone on meanwhile, and the file changes no more.
    if ((await currentSegment(url)).number !== current.number) return
    const until = performance.now() + LOOK_MS
    while (!stopping.signal.aborted && performance.now() < until && (await changedAt(next)) === made) {
      await pause(POLL_MS, stopping.signal)
    }
  }

  const keep = async () => {
    let current: Segment | undefined
    await pause(BEGIN_MS, stopping.signal)
    while (!stopping.signal.aborted) {
      try {
        current = await fill(current)
        await nextUse(current)
      } catch (err) {
        if (stopping.signal.aborted) return
        if (!hasFailed)
          log.warn({ err }, 'WAL segments cannot be preallocated: captures pause briefly when the WAL grows')
        hasFailed = true
        await pause(LOOK_MS, stopping.signal)
      }
    }
  }

  const keeping = keep()
  return {
    async stop() {
      stopping.abort()
      await keeping
    },
  }
}

interface Segment {
  readonly timeline: string
  readonly number: number
  /** Part of the segment that holds WAL. */
  readonly used: number
}

async function currentSegment(url: string): Promise<Segment> {
  return await withClient(url, 5000, async (client) => {
    const { rows } = await client.query<{ name: string; used: number }>(
      `select file_name as name, file_offset::float8 / ${SEGMENT_BYTES} as used
      from pg_walfile_name_offset(pg_current_wal_insert_lsn())`,
    )
    return { ...segmentOf(rows[0]?.name ?? ''), used: rows[0]?.used ?? 0 }
  })
}

/** The segment of a file of the WAL: its name is timeline, log and segment, eight hexadecimal digits each. */
function segmentOf(name: string): Omit<Segment, 'used'> {
  const [timeline, log, segment] = [name.slice(0, 8), name.slice(8, 16), name.slice(16)]
  return {
    timeline,
    number: Number.parseInt(log, 16) * SEGMENTS_PER_LOG + Number.parseInt(segment, 16),
  }
}

function segmentName({ timeline, number }: Omit<Segment, 'used'>): string {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0')
  return timeline + hex(Math.floor(number / SEGMENTS_PER_LOG)) + hex(number % SEGMENTS_PER_LOG)
}

async function changedAt(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.mtimeMs
}

interface Making {
  readonly file: string
  readonly home: PostgresHome
  /** False if sessions may come to the segment before its name is durable. */
  readonly isFarOff: () => Promise<boolean>
  /** The fewest pieces that are written at once. */
  readonly piecesMin: number
  readonly stopped: AbortSignal
}

/**
 * Makes an empty segment. It appears whole and synced, or not at all, and its name is durable before sessions come to it.
 * One that PostgreSQL has made meanwhile stays.
 */
async function makeSegment(making: Making) {
  try {
    await writeSegment(making, PAST_CACHE)
  } catch (error) {
    const isRefused = error instanceof Error && 'code' in error && error.code === 'EINVAL'
    if (PAST_CACHE === 0 || !isRefused) throw error
    // The file system cannot write past the cache.
    await writeSegment(making, 0)
  }
}

async function writeSegment(
  { file, home: { clusterFolder, account }, isFarOff, piecesMin, stopped }: Making,
  flags: number,
) {
  // PostgreSQL removes files of this name when it starts.
  const scratch = join(clusterFolder, 'pg_wal', `xlogtemp.${process.pid}.ahead`)
  try {
    const handle = await open(
      scratch,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | flags,
      0o600,
    )
    try {
      const zeros = Buffer.alloc(PIECES_AT_ONCE * PIECE_BYTES)
      let lateMs = 0
      for (let written = 0; written < SEGMENT_BYTES; ) {
        if (stopped.aborted || (await changedAt(file)) !== undefined) return
        const pieces = Math.min(PIECES_AT_ONCE, piecesMin + Math.floor(lateMs / LATE_MS_OF_PIECE))
        const bytes = Math.min(pieces * PIECE_BYTES, SEGMENT_BYTES - written)
        await handle.write(zeros, 0, bytes, written)
        written += bytes
        const from = performance.now()
        await restFor(PIECE_PAUSE_MS)
        lateMs = performance.now() - from - PIECE_PAUSE_MS
      }
      if (account !== undefined) await handle.chown(account.uid, account.gid)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (!(await isFarOff())) return
    try {
      await link(scratch, file)
      await syncFolder(dirname(file))
    } catch (error) {
      const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
      if (!isThere) throw error
    }
  } finally {
    await rm(scratch, { force: true })
  }
}

async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return
  const ended = Promise.withResolvers<void>()
  const end = () => ended.resolve()
  const timer = setTimeout(end, ms)
  timer.unref()
  stopped.addEventListener('abort', end, { once: true })
  await ended.promise
  clearTimeout(timer)
  stopped.removeEventListener('abort', end)
}
