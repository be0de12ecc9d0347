import type { TestEndpoint } from './client.ts'
import type { TestService } from './service.ts'

/** How often the database is asked; the API's budget is not touched. */
const POLL_MS = 10

/**
 * Waits until attempts of an endpoint have ended.
 *
 * @param count how many, Interrupted ones included
 */
export async function attemptsEnded({ db }: TestService, endpoint: TestEndpoint, count = 1): Promise<void> {
  for (;;) {
    const { ended } = await db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpoint.id)
      .where('state', '!=', 'Pending')
      .select((of) => of.fn.countAll<number>().as('ended'))
      .executeTakeFirstOrThrow()
    if (ended >= count) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
