import type { Services } from '../api/services.ts'
import { NO_RULES } from '../transformations/index.ts'
import { finishAttempts } from './finishStatement.ts'
import { freeUnheld, tellHeld } from './flow/held.ts'
import { flowsOf, wakeFlows } from './flow/wake.ts'
import { interruptedMessages } from './interruptedMessages.ts'
import { attemptNow, openDeadLetterIncidents } from './openDeliveries.ts'
import { scheduleOf, storedPolicy } from './policy.ts'
import { findOpenDeliveries, lockOverdue, type OpenDelivery, occasionOfRow } from './queries.ts'
import { retriesAfterInterruption } from './states.ts'
import { giveUpDeadWorkers } from './workers.ts'

/** The most overdue attempts of one transaction. */
const BATCH = 500

/**
 * Ends the leases of dead processes. Marks attempts whose lease has ended without a result as Interrupted, and queues
 * their deliveries at once. An interrupted attempt counts. If it was the last one, a single extra attempt follows; after
 * that the delivery becomes a dead letter. An inline replay is marked only. The record of the sent message is computed
 * again, because the process that sent it is gone.
 *
 * Several processes may call it at the same time.
 */
export async function recoverInterrupted(services: Services): Promise<void> {
  if (services.workerId !== null) await giveUpDeadWorkers(services.db, services.workerId)
  for (;;) {
    const { recovered, left } = await recoverSome(services)
    services.endpointChanges.announce(recovered.map(({ endpointId }) => endpointId))
    if (left === 0) return
  }
}

type Overdue = Awaited<ReturnType<typeof lockOverdue>>[number]

/** @returns the recovered attempts, and the number of locked ones that are left to the next transaction */
async function recoverSome(
  services: Services,
): Promise<{ readonly recovered: readonly Overdue[]; readonly left: number }> {
  const now = services.clock.now()
  return await services.db.transaction().execute(async (trx) => {
    const locked = await lockOverdue(trx, now, BATCH)
    const messages = await interruptedMessages(services, trx, locked)
    const overdue = locked.slice(0, messages.length)
    const left = locked.length - overdue.length
    if (overdue.length === 0) return { recovered: overdue, left }
    const deliveryIds = overdue.flatMap(({ deliveryId }) => (deliveryId === null ? [] : [deliveryId]))
    const open = deliveryIds.length === 0 ? [] : await findOpenDeliveries(trx, { ids: deliveryIds })
    const deliveries = new Map(open.map((delivery) => [delivery.id, delivery]))
    const spent = ({ deliveryId, attemptNumber }: Overdue) => {
      if (deliveryId === null) return false
      const policy = storedPolicy(deliveries.get(deliveryId)?.deliveryPolicy ?? null)
      const { delaysSeconds } = scheduleOf(policy, services.retryDelaysSeconds)
      return !retriesAfterInterruption(attemptNumber, delaysSeconds.length)
    }

    const kept = await finishAttempts(
      services,
      trx,
      overdue.map((row, index) => ({
        endpointId: row.endpointId,
        attemptId: row.id,
        requestId: row.requestId,
        state: spent(row) ? 'DeadLetter' : 'Interrupted',
        statusCode: null,
        error: 'interrupted',
        finishedAt: now,
        durationMs: now.getTime() - row.at.getTime(),
        nextAttemptAt: row.deliveryId === null || spent(row) || !deliveries.has(row.deliveryId) ? null : now,
        disposition: spent(row) ? 'deadLettered' : 'again',
        sent: messages[index]?.sent ?? null,
        received: null,
        sealing: messages[index]?.sealing ?? null,
        ...(messages[index]?.rules ?? NO_RULES),
      })),
      now,
    )
    const again: OpenDelivery[] = []
    const deadLettered: OpenDelivery[] = []
    for (const row of overdue) {
      const delivery = row.deliveryId === null ? undefined : deliveries.get(row.deliveryId)
      if (delivery === undefined || !kept.has(row.id)) continue
      if (spent(row)) deadLettered.push(delivery)
      else again.push(delivery)
    }
    await openDeadLetterIncidents(services, trx, deadLettered, 'interrupted')
    // In the order of those who record attempts.
    for (const [actionId, group] of [...Map.groupBy(deadLettered, (one) => one.actionId)].sort()) {
      const ended = group.map((one) => ({ deliveryId: one.id, ...occasionOfRow(one) }))
      await freeUnheld(services, trx, actionId, ended)
      await tellHeld(services, trx, ended)
    }
    await attemptNow(services, trx, again)
    await wakeFlows(services, trx, flowsOf(deadLettered), 'end')
    return { recovered: overdue, left }
  })
}
