import type { Context } from '../api/context.ts'
import type { EndpointRow, StoringInput } from '../endpoints/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { storingWarnings } from '../storeRules/index.ts'
import { ensureHashKey } from '../workspaces/index.ts'

/**
 * Makes the key for hashes if a change lets the endpoint take data out of its captures.
 *
 * @returns the member `warnings` of the answer
 */
export async function prepareStoring(
  { clock, secrets, workspace }: Pick<Context, 'clock' | 'secrets' | 'workspace'>,
  trx: Trx,
  endpoint: EndpointRow,
  { storeRules, dropHeaders }: StoringInput,
): Promise<{ warnings?: string[] }> {
  if (!storeRules?.length && !dropHeaders?.length) return {}
  await ensureHashKey(trx, { workspaceId: workspace.id, secrets, now: clock.now() })
  const stored = {
    storeRules: JSON.parse(endpoint.storeRules),
    dropHeaders: JSON.parse(endpoint.dropHeaders),
  }
  return { warnings: await storingWarnings(trx, endpoint, stored) }
}
