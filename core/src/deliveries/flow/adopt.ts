import type { Services } from '../../api/services.ts'
import { run, type Trx } from '../../platform/db/index.ts'
import type { DueRow } from '../dueAttempts.ts'
import { ADOPT_DELIVERIES } from './statements.ts'
import { wakeFlows } from './wake.ts'

/** Whether a due attempt belongs to the flow of its action, and not to a job. */
export function isInFlow({ flowState, governed, kind }: DueRow): boolean {
  return kind === 'forward' && (flowState !== null || governed)
}

/** Moves deliveries from their due jobs to the flows of their actions. */
export async function adoptDeliveries(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  rows: readonly Pick<DueRow, 'deliveryId' | 'actionId' | 'workspaceId'>[],
): Promise<void> {
  if (rows.length === 0) return
  await run(trx, ADOPT_DELIVERIES, [rows.map(({ deliveryId }) => deliveryId)])
  await wakeFlows(
    services,
    trx,
    rows.map(({ actionId: id, workspaceId }) => ({ id, workspaceId })),
  )
}
