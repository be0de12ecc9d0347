import type { Services } from '../api/services.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'

/**
 * Stores the signing secret that a provider's challenge delivered (Asana, Notion): sealed, and only while the endpoint
 * has none, so that no later request can replace what a person or an earlier challenge set.
 *
 * @returns whether it was stored
 */
export async function learnSigningSecret(
  { db, secrets, clock }: Pick<Services, 'db' | 'secrets' | 'clock'>,
  endpointId: string,
  secret: string,
): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('endpoints')
      .set({ signingSecret: secrets.seal(secret), signingSecretSetAt: clock.now() })
      .where('id', '=', endpointId)
      .where('deletedAt', 'is', null)
      .where('signingSecret', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return false
    await announceEndpointChange(trx, endpointId)
    return true
  })
}
