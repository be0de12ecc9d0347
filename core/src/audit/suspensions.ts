import type { Trx } from '../platform/db/index.ts'
import { recordChange } from './record.ts'

/** An object that a plan's limit has suspended, or that is resumed because there is room again. */
export interface Suspension {
  readonly id: string
  readonly name: string
  readonly endpointId: string
  readonly suspendedByPlan: boolean
}

/**
 * Writes an entry for each, such as `endpoints.suspend` or `actions.resume`. The actor is the one who caused it: the
 * service itself if the numbers of a plan have changed.
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
