import { type Payload, QUEUES, type QueueName, type QueueSpec, type Services } from '@creel/core'
import { checkWatchdogs } from '@creel/core/watchdogs'
import type { PgBoss } from 'pg-boss'
import { queueNames } from './boss.ts'

/** What a job does: a verb of core. Run at least once; every verb is safe to run twice. */
export type Worker<Name extends QueueName> = (
  services: Services,
  payload: Payload<Name>,
  signal: AbortSignal,
) => Promise<void>

/** Which verb each queue runs. */
export const WORKERS: { readonly [Name in QueueName]?: Worker<Name> } = {
  'watchdogs.check': (services, _payload, signal) => checkWatchdogs(services, signal),
}

/** Takes jobs of every queue until the boss is stopped, and keeps the clock-driven ones scheduled. */
export async function startWorkers(boss: PgBoss, services: Services): Promise<void> {
  for (const name of queueNames) {
    await startWorker(boss, services, name)
    const { cron }: QueueSpec = QUEUES[name]
    if (cron !== undefined) await boss.schedule(name, cron)
  }
}

async function startWorker<Name extends QueueName>(
  boss: PgBoss,
  services: Services,
  name: Name,
): Promise<void> {
  const run: Worker<Name> | undefined = WORKERS[name]
  if (run === undefined) return
  await boss.work<Payload<Name>>(name, async (jobs) => {
    for (const job of jobs) await run(services, job.data, job.signal)
  })
}
