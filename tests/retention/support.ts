import { expect } from 'bun:test'
import { sql } from 'kysely'
import type { TestService } from '../support/service.ts'

export const DAY = 86_400_000
export const MINUTE = 60_000

/** Sweeps rows past the retention of their plan. */
export const sweepRetention = (service: TestService) => service.runJob('retention.sweep', {})
/** Sweeps expired and deleted endpoints. */
export const sweepEndpoints = (service: TestService) => service.runJob('endpoints.sweep', {})

/** Number of rows of an endpoint in each table. */
export async function rowsOf({ db }: TestService, endpointId: string) {
  const { rows } = await sql<{
    requests: number
    deliveries: number
    attempts: number
    details: number
    actions: number
    watchdogs: number
    shareLinks: number
    endpoints: number
  }>`
    select
      (select count(*) from requests where endpoint_id = ${endpointId}) as requests,
      (select count(*) from deliveries where endpoint_id = ${endpointId}) as deliveries,
      (select count(*) from delivery_attempts where endpoint_id = ${endpointId}) as attempts,
      (select count(*) from attempt_details where endpoint_id = ${endpointId}) as details,
      (select count(*) from actions where endpoint_id = ${endpointId}) as actions,
      (select count(*) from watchdogs where endpoint_id = ${endpointId}) as watchdogs,
      (select count(*) from share_links where endpoint_id = ${endpointId}) as share_links,
      (select count(*) from endpoints where id = ${endpointId}) as endpoints`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('no counts')
  return row
}

const lengths = (...columns: string[]) =>
  columns.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ')

/** Bytes of a request by its row: the body, the note, and everything else, which counts at least 1 KiB. */
export const BYTES_OF_REQUEST = sql.raw(
  `octet_length(r.body) + coalesce(octet_length(r.note), 0) + greatest(1024, ${lengths(
    'r.method',
    'r.path',
    'r.query_string',
    'r.header_names',
    'r.header_values',
    'r.content_type',
    'r.ip',
    'r.user_agent',
    'r.label',
    'r.body_preview',
    'r.verdict',
    'r.verdict_note',
    'r.redaction',
    'r.column_values',
  )})`,
)

/** Bytes of ended attempts by their rows, and of the messages in them: at least 512 bytes each. */
const BYTES_OF_ATTEMPTS = sql.raw(`
  select a.endpoint_id, greatest(512, ${lengths('a.url', 'a.action_name', 'a.error', 'a.transform_note')}) as bytes
  from delivery_attempts a where a.state <> 'Pending'
  union all
  select d.endpoint_id, greatest(512, ${lengths(
    'd.sent_method',
    'd.sent_url',
    'd.sent_headers',
    'd.sent_body',
    'd.received_headers',
    'd.received_body',
  )})
  from attempt_details d`)

/** Expects that the counters of an endpoint equal its rows, and the sum of its attempts' bytes, too. */
export async function expectCountersEqualRows({ db }: TestService, endpointId: string): Promise<void> {
  const { rows } = await sql<{ counted: unknown; real: unknown }>`
    select
      jsonb_build_array(
        c.stored_request_count, c.stored_bytes, c.storage_bytes, c.binned_request_count,
        coalesce((select sum(bytes) from attempt_bytes where endpoint_id = c.endpoint_id), 0)
      ) as counted,
      (
        select jsonb_build_array(
          count(*) filter (where deleted_at is null and hidden_at is null),
          coalesce(sum(octet_length(body)) filter (where deleted_at is null and hidden_at is null), 0),
          coalesce(sum(${BYTES_OF_REQUEST}) filter (where deleted_at is null and hidden_at is null), 0),
          count(*) filter (where deleted_at is not null and hidden_at is null),
          coalesce((select sum(bytes) from (${BYTES_OF_ATTEMPTS}) a where a.endpoint_id = c.endpoint_id), 0)
        ) from requests r where r.endpoint_id = c.endpoint_id
      ) as real
    from endpoint_counters c where c.endpoint_id = ${endpointId}`.execute(db)
  expect(rows[0]?.counted).toEqual(rows[0]?.real)
}

/** {@link expectCountersEqualRows} for every endpoint. */
export async function expectAllCountersEqualRows(service: TestService): Promise<void> {
  const endpoints = await service.db.selectFrom('endpointCounters').select('endpointId').execute()
  for (const { endpointId } of endpoints) await expectCountersEqualRows(service, endpointId)
}

/** Lets every deletion of requests, or of rows of another table, of some endpoints fail, or not happen. */
export async function whileBroken(
  { db }: TestService,
  endpointIds: readonly string[],
  does: string,
  work: () => Promise<unknown>,
  table = 'requests',
): Promise<void> {
  await sql
    .raw(`create function broken_row() returns trigger language plpgsql as $$ begin ${does}; end $$`)
    .execute(db)
  await sql
    .raw(
      `create trigger broken_row before delete on ${table} for each row
      when (old.endpoint_id in (${endpointIds.map((id) => `'${id}'`).join(', ')})) execute function broken_row()`,
    )
    .execute(db)
  try {
    await work()
  } finally {
    await sql`drop function broken_row cascade`.execute(db)
  }
}
