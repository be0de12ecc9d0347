import type { Context } from '../api/context.ts'
import {
  type CreateInput,
  checkOriginal,
  type EndpointRow,
  ensureDataKey,
  type StoringInput,
} from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import type { Trx } from '../platform/db/index.ts'
import { sealEarlier } from '../sealing/index.ts'
import { storingWarnings } from '../storeRules/index.ts'

/**
 * Makes the data key of an endpoint that encrypts its captures. Requests that are stored already are then sealed in the
 * background.
 *
 * @returns the member `warnings` of the answer
 */
export async function prepareStoring(
  { secrets, workspace }: Pick<Context, 'secrets' | 'workspace'>,
  trx: Trx,
  endpoint: EndpointRow,
  { storeRules, dropHeaders, encryptBodies }: StoringInput & Pick<Partial<CreateInput>, 'encryptBodies'>,
): Promise<{ warnings?: string[] }> {
  const takesOut = Boolean(storeRules?.length || dropHeaders?.length)
  if (encryptBodies === true) {
    await ensureDataKey(trx, { workspaceId: workspace.id, endpointId: endpoint.id, secrets })
    await sealEarlier(trx, endpoint.id)
    if (!takesOut) return { warnings: [SEARCH_LOST] }
  }
  if (!takesOut) return {}
  const stored = {
    storeRules: JSON.parse(endpoint.storeRules),
    dropHeaders: JSON.parse(endpoint.dropHeaders),
  }
  const warnings = await storingWarnings(trx, endpoint, stored)
  return { warnings: encryptBodies === true ? [SEARCH_LOST, ...warnings] : warnings }
}

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
