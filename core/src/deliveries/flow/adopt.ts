import { announceEndpointChange } from '../../platform/changes/index.ts'
import { run, type Trx } from '../../platform/db/index.ts'
import type { DueRow } from '../dueAttempts.ts'
import { flowSignal } from './signals.ts'
import { ADOPT_DELIVERIES } from './statements.ts'

/** Whether a due attempt belongs to the flow of its action, and not to a job. */
export function isInFlow({ flowState, governed, kind }: DueRow): boolean {
  return kind === 'forward' && (flowState !== null || governed)
}

/** Moves deliveries from their due jobs to the flows of their actions. Announces them when the transaction commits. */
export async function adoptDeliveries(
  trx: Trx,
  rows: readonly Pick<DueRow, 'deliveryId' | 'actionId'>[],
): Promise<void> {
  if (rows.length === 0) return
  await run(trx, ADOPT_DELIVERIES, [rows.map(({ deliveryId }) => deliveryId)])
  await announceEndpointChange(trx, ...new Set(rows.map(({ actionId }) => flowSignal('work', actionId))))
}
