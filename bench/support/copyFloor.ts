import { Client, type Connection, type Submittable } from 'pg'
import { postgresMicroseconds, postmasterOf } from './cpuTime.ts'

/** The least that PostgreSQL can do with captures: their rows by `COPY`, from a bare program on one connection. */
export interface CopyFloor extends AsyncDisposable {
  /**
   * Copies rows like those that are stored, each batch in a transaction of its own.
   *
   * @returns processor time of PostgreSQL for a row, in microseconds
   */
  copy(rows: number, rowsOfBatch: number): Promise<number>
}

/** Bytes of a binary COPY before its first row, and after the last. */
const HEADER_BYTES = 19
const END = Buffer.from([0xff, 0xff])

/**
 * Opens the floor on the database of a service. Its table has the columns, defaults and indexes of the stored requests.
 *
 * @param url the database
 * @param endpointId endpoint with stored requests, of which one is copied over and over
 */
export async function openCopyFloor(url: string, endpointId: string): Promise<CopyFloor> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('create table floor_requests (like requests including all)')
  const { rows } = await client.query<{ list: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as list from pg_attribute
    where attrelid = 'requests'::regclass and attnum > 0 and not attisdropped and attname <> 'id'`,
  )
  const list = rows[0]?.list ?? ''
  const out = await copied(
    client,
    `copy (select ${list} from requests where endpoint_id = '${endpointId}' limit 1) to stdout (format binary)`,
  )
  const row = out.subarray(HEADER_BYTES, out.length - END.length)
  const postmaster = await postmasterOf(url)
  return {
    async copy(count, rowsOfBatch) {
      const batch = Buffer.concat([
        out.subarray(0, HEADER_BYTES),
        ...Array.from({ length: rowsOfBatch }, () => row),
        END,
      ])
      const before = await postgresMicroseconds(postmaster)
      for (let left = count; left > 0; left -= rowsOfBatch)
        await copied(client, `copy floor_requests (${list}) from stdin (format binary)`, batch)
      return (
        ((await postgresMicroseconds(postmaster)) - before) / (Math.ceil(count / rowsOfBatch) * rowsOfBatch)
      )
    },
    async [Symbol.asyncDispose]() {
      await client.query('drop table floor_requests')
      await client.end()
    },
  }
}

/** Members of node-postgres' connection that its types lack. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Runs a COPY: sends its input, if it takes any, and resolves to its output. */
async function copied(client: Client, text: string, input?: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const output: Buffer[] = []
  const copy: Submittable & Record<string, unknown> = {
    submit: (connection: Connection) => connection.query(text),
    handleCopyInResponse(connection: CopyConnection) {
      if (input !== undefined) connection.sendCopyFromChunk(input)
      connection.endCopyFrom()
    },
    handleCopyData: ({ chunk }: { chunk: Buffer }) => void output.push(Buffer.from(chunk)),
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => resolve(Buffer.concat(output)),
    handleError: (error: Error) => reject(error),
  }
  client.query(copy)
  return await promise
}
