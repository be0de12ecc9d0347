import { expect } from 'bun:test'
import { sql } from 'kysely'
import type { TestService } from '../support/service.ts'

export const DAY = 86_400_000
export const MINUTE = 60_000

/** Sweeps what the retention of each plan ends. */
export const sweepRetention = (service: TestService) => service.runJob('retention.sweep', {})
/** Sweeps expired and deleted endpoints. */
export const sweepEndpoints = (service: TestService) => service.runJob('endpoints.sweep', {})

/** How many rows of an endpoint each table holds. */
export async function rowsOf({ db }: TestService, endpointId: string) {
  const { rows } = await sql<{
    requests: number
    deliveries: number
    attempts: number
    details: number
    actions: number
    watchdogs: number
    endpoints: number
  }>`
    select
      (select count(*) from requests where endpoint_id = ${endpointId}) as requests,
      (select count(*) from deliveries where endpoint_id = ${endpointId}) as deliveries,
      (select count(*) from delivery_attempts where endpoint_id = ${endpointId}) as attempts,
      (select count(*) from attempt_details where endpoint_id = ${endpointId}) as details,
      (select count(*) from actions where endpoint_id = ${endpointId}) as actions,
      (select count(*) from watchdogs where endpoint_id = ${endpointId}) as watchdogs,
      (select count(*) from endpoints where id = ${endpointId}) as endpoints`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('no counts')
  return row
}

/** The counters of an endpoint equal its rows, always. */
export async function expectCountersEqualRows({ db }: TestService, endpointId: string): Promise<void> {
  const { rows } = await sql<{ counted: unknown; real: unknown }>`
    select
      jsonb_build_array(c.stored_request_count, c.stored_bytes, c.binned_request_count) as counted,
      (
        select jsonb_build_array(
          count(*) filter (where deleted_at is null and hidden_at is null),
          coalesce(sum(octet_length(body)) filter (where deleted_at is null and hidden_at is null), 0),
          count(*) filter (where deleted_at is not null and hidden_at is null)
        ) from requests r where r.endpoint_id = c.endpoint_id
      ) as real
    from endpoint_counters c where c.endpoint_id = ${endpointId}`.execute(db)
  expect(rows[0]?.counted).toEqual(rows[0]?.real)
}
