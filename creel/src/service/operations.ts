import { checkDatabase } from '@creel/core'
import { queueDepth, queueLagSeconds } from '@creel/core/platform/metrics'
import type { Operations } from '@creel/gateway'
import { checkQueue, readQueueLoad } from '@creel/jobs'
import type { OpenServices } from './services.ts'

/** How this process is watched: database and queue must answer, and the queue's figures are read at each scrape. */
export function operationsOf({ services, boss }: Pick<OpenServices, 'services' | 'boss'>): Operations {
  return {
    checks: {
      database: () => checkDatabase(services.db),
      queue: () => checkQueue(boss),
    },
    async beforeScrape() {
      for (const { queue, depth, lagSeconds } of await readQueueLoad(boss)) {
        queueDepth.set({ queue }, depth)
        queueLagSeconds.set({ queue }, lagSeconds)
      }
    },
  }
}
