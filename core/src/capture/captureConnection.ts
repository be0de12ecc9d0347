import type pg from 'pg'
import type { Services } from '../api/services.ts'
import { type Db, onConnection, Pipeline } from '../platform/db/index.ts'
import { within } from '../platform/time/index.ts'
import { prepareConnection } from './captureStatement.ts'
import { preparePlain } from './plainBatch.ts'

/** A connection for captures only, prepared for their statements. */
export interface CaptureConnection {
  readonly client: pg.PoolClient
  /** Kysely on the same connection, for transactions. */
  readonly db: Db
  /** Several statements on the same connection in one round trip. */
  readonly pipeline: Pipeline
}

/** Keeps one connection open until it fails. */
export interface ConnectionKeeper {
  /** The connection if it is open, without waiting. */
  peek(): CaptureConnection | undefined
  /**
   * Returns the open connection, or opens one. Calls at the same time share it.
   *
   * @throws errors of PostgreSQL, or an Error when it does not answer for `CONNECT_SECONDS_MAX`
   */
  open(): Promise<CaptureConnection>
  /** Closes a connection that failed; the next `open` makes another. A no-op if it is not the open one. */
  drop(failed: CaptureConnection, cause: unknown): void
  close(): void
}

/** Time limit for a connection. Senders must get their 503 before their own timeout. */
const CONNECT_SECONDS_MAX = 5

/**
 * Makes a keeper. It takes a connection from the pool on the first `open` and prepares it. Later calls return the same
 * one until it fails.
 */
export function keepConnection(pool: pg.Pool, { log }: Pick<Services, 'log'>): ConnectionKeeper {
  let kept: CaptureConnection | undefined
  let opening: Promise<CaptureConnection> | undefined

  const drop = (connection: CaptureConnection, cause: unknown) => {
    // The failure of one connection is reported by its socket and by every batch on it.
    if (connection !== kept) return
    kept = undefined
    log.warn({ err: cause }, 'the capture connection failed: senders get 503 until Postgres is back')
    connection.client.release(true)
  }

  const openNew = async () => {
    const client = await connectInTime(pool)
    const pipeline = new Pipeline(client)
    const connection: CaptureConnection = { client, db: onConnection(client), pipeline }
    client.on('error', (error) => drop(connection, error))
    try {
      await inTime(prepareConnection(client).then(() => preparePlain(pipeline)))
    } catch (error) {
      client.release(true)
      throw error
    }
    kept = connection
    return connection
  }

  return {
    peek: () => kept,
    async open() {
      if (kept !== undefined) return kept
      opening ??= openNew().finally(() => {
        opening = undefined
      })
      return await opening
    },
    drop,
    close() {
      kept?.client.release(true)
      kept = undefined
    },
  }
}

async function connectInTime(pool: pg.Pool): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  return await inTime(connecting).catch((error: unknown) => {
    // A connection that arrives later goes back to the pool.
    connecting.then(
      (late) => late.release(),
      () => {},
    )
    throw error
  })
}

/** @throws Error when it takes longer than {@link CONNECT_SECONDS_MAX} */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const done = await within(
    work.then((result) => ({ result })),
    CONNECT_SECONDS_MAX * 1000,
  )
  if (done === undefined) throw new Error(`Postgres gave no connection within ${CONNECT_SECONDS_MAX} s.`)
  return done.result
}
