import { listActions } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { orderDigest } from '../capture/index.ts'
import { rekeyDeliveries, storedPolicy } from '../deliveries/index.ts'
import {
  type CreateInput,
  checkOriginal,
  type EndpointRow,
  ensureDataKey,
  findDataKey,
  type StoringInput,
  storingOf,
} from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { hashWith } from '../engine/storing/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { openDataKey } from '../platform/secrets/index.ts'
import { sealEarlier } from '../sealing/index.ts'
import { storingWarnings } from '../storeRules/index.ts'
import { ensureHashKey } from '../workspaces/index.ts'

/**
 * Makes the data key of an endpoint that encrypts its captures. Requests that are stored already are then sealed in the
 * background.
 *
 * @returns the member `warnings` of the answer
 */
export async function prepareStoring(
  ctx: Pick<Context, 'clock' | 'secrets' | 'workspace'>,
  trx: Trx,
  { before, endpoint }: { readonly before: EndpointRow | null; readonly endpoint: EndpointRow },
  { storeRules, dropHeaders, encryptBodies }: StoringInput & Pick<Partial<CreateInput>, 'encryptBodies'>,
): Promise<{ warnings?: string[] }> {
  const takesOut = Boolean(storeRules?.length || dropHeaders?.length)
  if (!takesOut && encryptBodies !== true) return {}
  const of = { workspaceId: ctx.workspace.id, endpointId: endpoint.id, secrets: ctx.secrets }
  const known = await findDataKey(trx, of)
  if (encryptBodies === true) {
    await ensureDataKey(trx, of)
    await sealEarlier(trx, endpoint.id)
  }
  if (before !== null && known === undefined) await keepOrder(ctx, trx, before, endpoint)
  const warnings = takesOut ? await storingWarnings(trx, endpoint, storingInput(endpoint)) : []
  return { warnings: encryptBodies === true ? [SEARCH_LOST, ...warnings] : warnings }
}

/**
 * Replaces the order keys of deliveries that wait by the digests that later captures will have, where the change hides
 * them: a held key would no longer hold, and dead letters would keep a value.
 */
async function keepOrder(
  { clock, secrets, workspace }: Pick<Context, 'clock' | 'secrets' | 'workspace'>,
  trx: Trx,
  before: EndpointRow,
  endpoint: EndpointRow,
): Promise<void> {
  const actions = (await listActions(trx, endpoint.id)).map(({ id, deliveryPolicy }) => ({
    id,
    by: storedPolicy(deliveryPolicy).order?.by,
  }))
  if (actions.every(({ by }) => by === undefined)) return
  const workspaceId = workspace.id
  const hash = hashWith(await ensureHashKey(trx, { workspaceId, secrets, now: clock.now() }))
  const ref = await findDataKey(trx, { workspaceId, endpointId: endpoint.id })
  const dataKey = ref === undefined ? null : openDataKey(secrets, ref.sealedKey)
  const [earlier, later] = [
    { dataKey: null, storing: storingOf(before, hash) },
    { dataKey, storing: storingOf(endpoint, hash) },
  ]
  for (const { id: actionId, by } of actions) {
    const digest = orderDigest(later, by)
    if (digest !== null && orderDigest(earlier, by) === null)
      await rekeyDeliveries(trx, { endpointId: endpoint.id, actionId }, digest)
  }
}

const storingInput = ({ storeRules, dropHeaders }: EndpointRow): StoringInput => ({
  storeRules: JSON.parse(storeRules),
  dropHeaders: JSON.parse(dropHeaders),
})

const SEARCH_LOST =
  'Searches of text do not find requests that are encrypted: use method, label, event id and the other filters.'

type OriginalInput = Partial<
  Pick<CreateInput, 'storeRules' | 'dropHeaders' | 'encryptBodies' | 'forwardOriginal' | 'originalHours'>
>

/** Contradictions among the members about originals, after a change; none of a change that leaves them as they are. */
export function originalIssues(endpoint: EndpointRow | null, input: OriginalInput): InputIssue[] {
  const { storeRules, dropHeaders, encryptBodies, forwardOriginal, originalHours } = input
  const members = [storeRules, dropHeaders, encryptBodies, forwardOriginal, originalHours]
  if (members.every((member) => member === undefined)) return []
  const has = (given: readonly unknown[] | null | undefined, stored: string | undefined) =>
    given === undefined ? (stored ?? '[]') !== '[]' : (given ?? []).length > 0
  // Switching the original off clears its hours, unless they are given, too.
  const storedHours = forwardOriginal === false ? null : (endpoint?.originalHours ?? null)
  const hours = originalHours === undefined ? storedHours : originalHours
  return checkOriginal({
    takesOut: has(storeRules, endpoint?.storeRules) || has(dropHeaders, endpoint?.dropHeaders),
    encrypts: encryptBodies ?? endpoint?.encryptBodies ?? false,
    forwardOriginal: forwardOriginal ?? endpoint?.forwardOriginal ?? false,
    hasHours: hours !== null,
  })
}
