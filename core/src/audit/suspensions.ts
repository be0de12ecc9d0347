import type { Trx } from '../platform/db/index.ts'
import { recordChange } from './record.ts'

/** Something that a plan's limit has put out of use, or that has room again. */
export interface Suspension {
  readonly id: string
  readonly name: string
  readonly endpointId: string
  /** From now on. */
  readonly suspendedByPlan: boolean
}

/**
 * Writes an entry for each, as `endpoints.suspend`, `actions.resume` and the like: in the name of whoever caused it, which is the
 * service where the numbers of a plan have changed.
 */
export async function recordSuspensions(
  trx: Trx,
  who: Parameters<typeof recordChange>[1],
  workspaceId: string,
  type: 'endpoint' | 'action' | 'watchdog',
  suspensions: readonly Suspension[],
): Promise<void> {
  for (const { id, name, endpointId, suspendedByPlan } of suspensions) {
    await recordChange(trx, who, {
      action: `${type}s.${suspendedByPlan ? 'suspend' : 'resume'}`,
      workspaceId,
      subject: { type, id, name },
      endpointId,
      before: { suspendedByPlan: !suspendedByPlan },
      after: { suspendedByPlan },
    })
  }
}
