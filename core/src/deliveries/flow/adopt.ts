import { announceEndpointChange } from '../../platform/changes/index.ts'
import { run, type Trx } from '../../platform/db/index.ts'
import type { DueRow } from '../dueAttempts.ts'
import { flowSignal } from './signals.ts'
import { ADOPT_DELIVERIES } from './statements.ts'

/** Whether a due attempt is no job's any more: its delivery waits in the flow of its action, or is to. */
export function isInFlow({ flowState, governed, kind }: DueRow): boolean {
  return kind === 'forward' && (flowState !== null || governed)
}

/** Moves deliveries whose jobs have come to the flows of their actions, and announces them when the transaction commits. */
export async function adoptDeliveries(
  trx: Trx,
  rows: readonly Pick<DueRow, 'deliveryId' | 'actionId'>[],
): Promise<void> {
  if (rows.length === 0) return
  await run(trx, ADOPT_DELIVERIES, [rows.map(({ deliveryId }) => deliveryId)])
  await announceEndpointChange(trx, ...new Set(rows.map(({ actionId }) => flowSignal('work', actionId))))
}
