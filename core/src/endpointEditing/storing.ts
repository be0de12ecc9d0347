import type { Context } from '../api/context.ts'
import { type CreateInput, checkOriginal, type EndpointRow, type StoringInput } from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
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

type OriginalInput = Partial<
  Pick<CreateInput, 'storeRules' | 'dropHeaders' | 'forwardOriginal' | 'originalHours'>
>

/** Contradictions among the members about originals, after a change; none of a change that leaves them as they are. */
export function originalIssues(endpoint: EndpointRow | null, input: OriginalInput): InputIssue[] {
  const { storeRules, dropHeaders, forwardOriginal, originalHours } = input
  if ([storeRules, dropHeaders, forwardOriginal, originalHours].every((member) => member === undefined))
    return []
  const has = (given: readonly unknown[] | null | undefined, stored: string | undefined) =>
    given === undefined ? (stored ?? '[]') !== '[]' : (given ?? []).length > 0
  // Switching the original off clears its hours, unless they are given, too.
  const storedHours = forwardOriginal === false ? null : (endpoint?.originalHours ?? null)
  const hours = originalHours === undefined ? storedHours : originalHours
  return checkOriginal({
    takesOut: has(storeRules, endpoint?.storeRules) || has(dropHeaders, endpoint?.dropHeaders),
    forwardOriginal: forwardOriginal ?? endpoint?.forwardOriginal ?? false,
    hasHours: hours !== null,
  })
}
