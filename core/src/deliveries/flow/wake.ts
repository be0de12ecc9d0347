import type { Services } from '../../api/services.ts'
import { type Lane, queueRecovery, type Signal } from '../../dispatch/index.ts'
import { announceEndpointChange } from '../../platform/changes/index.ts'
import type { Trx } from '../../platform/db/index.ts'
import { DELIVERY_LANES } from '../jobs.ts'
import { flowSignal } from './signals.ts'

/** Leads to looks at lanes of actions when the transaction commits: by a signal at once, and by a job if that is lost. */
export async function wakeFlows(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  lanes: readonly Lane[],
  signal: Signal = 'work',
): Promise<void> {
  const distinct = [...new Map(lanes.map((lane) => [lane.id, lane])).values()]
  if (distinct.length === 0) return
  await queueRecovery(services, trx, DELIVERY_LANES, distinct)
  await announceEndpointChange(trx, ...distinct.map((lane) => flowSignal(signal, lane)))
}

export function flowsOf(
  deliveries: readonly {
    readonly actionId: string
    readonly workspaceId: string
    readonly flowState: string | null
  }[],
): readonly Lane[] {
  return deliveries.flatMap(({ actionId: id, workspaceId, flowState }) =>
    flowState === null ? [] : [{ id, workspaceId }],
  )
}
