import type { z } from 'zod'
import { NO_PAYLOAD, type Queue, queue } from '../platform/queues.ts'

/**
 * The queues of a noun's runs. A job works on one run for some seconds, then queues the next one and makes room for
 * others. A run has a lease, so a second job of it does nothing. The queue's own retries are for a worker that died.
 * The sweep queues a job for runs that lost theirs; it is a singleton, and safe to interrupt.
 *
 * @param noun of the names of the queues, which never change
 */
export function runQueues<Payload>(
  noun: string,
  payload: z.ZodType<Payload>,
  {
    expireInSeconds,
    ...rest
  }: Pick<Queue, 'batches' | 'batchSize' | 'pollSeconds' | 'calls'> & { readonly expireInSeconds: number },
): readonly [runs: Queue<Payload>, sweep: Queue] {
  const runs = queue({
    name: `${noun}.run`,
    payload,
    options: {
      policy: 'standard',
      retryLimit: 1000,
      expireInSeconds,
      heartbeatSeconds: 10,
      notify: true,
      deleteAfterSeconds: 600,
    },
    ...rest,
  })
  const sweep = queue({
    name: `${noun}.sweep`,
    payload: NO_PAYLOAD,
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  })
  return [runs, sweep]
}
