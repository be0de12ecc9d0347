import type pg from 'pg'
import type { Services } from '../api/services.ts'
import { type Db, onConnection, Pipeline } from '../platform/db/index.ts'
import { within } from '../platform/time/index.ts'
import { prepareConnection } from './captureStatement.ts'
import { preparePlain } from './plainBatch.ts'

/** A connection that only captures use, prepared for their statements. */
export interface CaptureConnection {
  readonly client: pg.PoolClient
  /** Kysely on the same connection, for transactions. */
  readonly db: Db
  /** Several statements on the same connection in one round trip. */
  readonly pipeline: Pipeline
}

/** Keeps one connection open for as long as it works. */
export interface ConnectionKeeper {
  /** The connection, where it is open: then its statements go out at once. */
  peek(): CaptureConnection | undefined
  /** @throws what Postgres said, or an Error when it says nothing for `CONNECT_SECONDS_MAX` */
  open(): Promise<CaptureConnection>
  /** Gives a connection up that failed; the next `open` makes another. What has been given up already stays so. */
  drop(failed: CaptureConnection, cause: unknown): void
  close(): void
}

/** Senders must hear of a Postgres that does not answer before they give up themselves. */
const CONNECT_SECONDS_MAX = 5

/**
 * Takes a connection from the pool on the first `open` and prepares it; later calls return the same one until
 * it fails.
 */
export function keepConnection(
  pool: pg.Pool,
  services: Pick<Services, 'log' | 'recoveryJobs'>,
): ConnectionKeeper {
  const { log } = services
  let kept: CaptureConnection | undefined

  const drop = (connection: CaptureConnection, cause: unknown) => {
    // A connection dies once, but says so by its socket and by every batch on it.
    if (connection !== kept) return
    kept = undefined
    log.warn({ err: cause }, 'the capture connection failed: senders get 503 until Postgres is back')
    connection.client.release(true)
  }

  return {
    peek: () => kept,
    async open() {
      if (kept !== undefined) return kept
      const client = await connectInTime(pool)
      const pipeline = new Pipeline(client)
      const connection: CaptureConnection = { client, db: onConnection(client), pipeline }
      client.on('error', (error) => drop(connection, error))
      try {
        await prepareConnection(client)
        await preparePlain(pipeline, services)
      } catch (error) {
        client.release(true)
        throw error
      }
      kept = connection
      return connection
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
  const client = await within(connecting, CONNECT_SECONDS_MAX * 1000)
  if (client !== undefined) return client
  // Should it come after all, somebody else may have it.
  connecting.then(
    (late) => late.release(),
    () => {},
  )
  throw new Error(`Postgres gave no connection within ${CONNECT_SECONDS_MAX} s.`)
}
