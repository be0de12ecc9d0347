import { requireStays } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'

/**
 * Stores the signing secret that a provider's challenge delivered (Asana, Notion). It is sealed, and stored only while
 * the endpoint has none, so that no later request can replace the secret of a user or of an earlier challenge.
 *
 * @returns whether it was stored
 * @throws DomainError `unavailable` while the workspace is about to be in another cell
 */
export async function learnSigningSecret(
  services: Pick<Services, 'db' | 'secrets' | 'clock' | 'actor' | 'cell'>,
  endpointId: string,
  secret: string,
): Promise<boolean> {
  const { db, secrets, clock } = services
  return await db.transaction().execute(async (trx) => {
    const endpoint = await trx
      .selectFrom('endpoints')
      .select('workspaceId')
      .where('id', '=', endpointId)
      .executeTakeFirst()
    if (endpoint === undefined) return false
    const { workspaceId } = endpoint
    const learned = await trx
      .updateTable('endpoints')
      .set({ signingSecret: secrets.seal(secret, workspaceId), signingSecretSetAt: clock.now() })
      .where('id', '=', endpointId)
      .where('deletedAt', 'is', null)
      .where('signingSecret', 'is', null)
      .returning(['name', 'signingSecretSetAt'])
      .executeTakeFirst()
    if (learned === undefined) return false
    await announceEndpointChange(trx, endpointId)
    await recordChange(trx, services, {
      action: 'endpoints.learnSigningSecret',
      workspaceId,
      subject: { type: 'endpoint', id: endpointId, name: learned.name },
      endpointId,
      before: { signingSecretSetAt: null },
      after: { signingSecretSetAt: learned.signingSecretSetAt },
    })
    await requireStays(services, trx, workspaceId)
    return true
  })
}
