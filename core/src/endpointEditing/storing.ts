import type { Context } from '../api/context.ts'
import { keepOrder } from '../capture/index.ts'
import {
  type CreateInput,
  checkOriginal,
  type EndpointRow,
  ensureDataKey,
  findDataKey,
  storedStoring,
  type UpdateInput,
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
  ctx: Pick<Context, 'clock' | 'secrets' | 'workspace'>,
  trx: Trx,
  { before, endpoint }: { readonly before: EndpointRow | null; readonly endpoint: EndpointRow },
  input: Partial<UpdateInput>,
): Promise<{ warnings?: string[] }> {
  const { encryptBodies } = input
  const mayWarn = WARNING_MEMBERS.some((member) => input[member] !== undefined)
  if (!mayWarn && encryptBodies !== true) return {}
  const of = { workspaceId: ctx.workspace.id, endpointId: endpoint.id, secrets: ctx.secrets }
  const known = await findDataKey(trx, of)
  if (encryptBodies === true) {
    await ensureDataKey(trx, of)
    await sealEarlier(trx, endpoint.id)
  }
  if (before !== null) await keepOrder(ctx, trx, { before, endpoint, hadDataKey: known !== undefined })
  const warnings = mayWarn ? await storingWarnings(trx, endpoint, storedStoring(endpoint)) : null
  if (warnings === null && encryptBodies !== true) return {}
  return { warnings: [...(encryptBodies === true ? [SEARCH_LOST] : []), ...(warnings ?? [])] }
}

/** Members that decide what rules for storing take out, and what reads it. */
const WARNING_MEMBERS = [
  'storeRules',
  'dropHeaders',
  'provider',
  'signatureHeader',
  'eventIdPath',
  'dedupe',
  'columns',
] as const

const SEARCH_LOST =
  'Searches of text do not find requests that are encrypted: use method, label, event id and the other filters.'

type OriginalInput = Partial<
  Pick<CreateInput, 'storeRules' | 'dropHeaders' | 'encryptBodies' | 'forwardOriginal' | 'originalHours'>
>

/** For each member that can be reported as contradicting: the other members that decide it. */
const JUDGED_BY: Readonly<Record<string, readonly (keyof OriginalInput)[]>> = {
  forwardOriginal: ['storeRules', 'dropHeaders', 'encryptBodies'],
  originalHours: ['forwardOriginal'],
}

/** Like {@link originalIssues}, but leaves out contradictions that depend on a member that the schema has refused. */
export function checkOriginals(endpoint: EndpointRow | null, input: OriginalInput): InputIssue[] {
  return originalIssues(endpoint, input).filter(({ path: [member] }) =>
    (JUDGED_BY[String(member)] ?? []).every((name) => name in input),
  )
}

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
