import type { TestEndpoint } from './client.ts'
import { eventually } from './eventually.ts'
import type { TestService } from './service.ts'

/** Interval of polling the database, which does not use the API's budget. */
const POLL_MS = 10

/**
 * Waits until attempts of an endpoint have ended.
 *
 * @param count how many, Interrupted ones included
 */
export async function attemptsEnded({ db }: TestService, endpoint: TestEndpoint, count = 1): Promise<void> {
  const counted = db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpoint.id)
    .where('state', '!=', 'Pending')
    .select((of) => of.fn.countAll<number>().as('ended'))
  await eventually(
    `${count} ended attempts`,
    async () => (await counted.executeTakeFirstOrThrow()).ended >= count,
    { every: POLL_MS },
  )
}
