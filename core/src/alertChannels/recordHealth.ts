import type { Services } from '../api/services.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { type Channel, type ChannelRow, channelOf } from './channel.ts'
import { type HealthState, healthAfter, type SendOutcome } from './health.ts'

const STORE = statement(
  'store health of channels',
  `update alert_channels c set health = g.health, last_success_at = g.success_at, last_failure_at = g.failure_at,
    last_error = g.error, consecutive_failures = g.failures
  from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::int[])
    as g (id, health, success_at, failure_at, error, failures)
  where c.id = g.id`,
)

/**
 * Updates the health of channels after sends, in their order. If the credential or a setting of a channel has changed
 * meanwhile, its results say nothing about the new ones, and are dropped.
 *
 * @param isTest the sends were a user's tests; the refusal of one alone makes its channel failing
 */
export async function recordHealth(
  { secrets, clock }: Pick<Services, 'secrets' | 'clock'>,
  trx: Trx,
  sent: readonly { readonly channel: Channel; readonly send: SendOutcome }[],
  isTest = false,
): Promise<void> {
  if (sent.length === 0) return
  const locked = await trx
    .selectFrom('alertChannels')
    .selectAll()
    .where(
      'id',
      'in',
      sent.map(({ channel }) => channel.id),
    )
    .orderBy('id')
    .forUpdate()
    .execute()
  const now = clock.now()
  const states = locked.map((row): HealthState & Pick<ChannelRow, 'id'> => {
    const current = channelOf(row, secrets)
    const own = sent.filter(
      ({ channel }) =>
        channel.id === row.id &&
        channel.secret === current.secret &&
        JSON.stringify(channel.settings) === row.settings,
    )
    let health: HealthState = current
    for (const { send } of own) health = healthAfter(health, send, isTest, now)
    return { ...health, id: row.id }
  })
  await run(trx, STORE, [
    states.map(({ id }) => id),
    states.map(({ health }) => health),
    states.map(({ lastSuccessAt }) => lastSuccessAt),
    states.map(({ lastFailureAt }) => lastFailureAt),
    states.map(({ lastError }) => lastError),
    states.map(({ consecutiveFailures }) => consecutiveFailures),
  ])
}
