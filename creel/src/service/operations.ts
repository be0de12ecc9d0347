import { checkDatabase } from '@creel/core'
import { queueDepth, queueLagSeconds, storageBytes, storageMaxBytes } from '@creel/core/platform/metrics'
import { NEARLY_FULL, readStorage } from '@creel/core/retention'
import type { Operations } from '@creel/gateway'
import { checkQueue, readQueueLoad } from '@creel/jobs'
import type { OpenServices } from './services.ts'

/** Strangers may ask for `/readyz`: the sum over all endpoints is made so often at most. */
const STORAGE_EVERY_MS = 5000

/** How this process is watched: database and queue must answer; the queue's and the storage's figures are read at each scrape. */
export function operationsOf({ services, boss }: Pick<OpenServices, 'services' | 'boss'>): Operations {
  const max = services.storageMaxBytes
  let read: { readonly at: number; readonly total: Promise<number> } | undefined
  const totalBytes = () => {
    if (read === undefined || performance.now() - read.at > STORAGE_EVERY_MS) {
      const total = readStorage(services.db).then((storage) => storage.totalBytes)
      read = { at: performance.now(), total }
    }
    return read.total
  }
  const storageNote = async (bound: number) => {
    const share = (await totalBytes()) / Math.max(1, bound)
    return share < NEARLY_FULL ? 'ok' : `nearly full: ${Math.round(share * 100)} % of CREEL_STORAGE_MAX`
  }
  return {
    checks: {
      database: () => checkDatabase(services.db),
      queue: () => checkQueue(boss),
    },
    ...(max !== null && { notes: { storage: () => storageNote(max) } }),
    async beforeScrape() {
      storageMaxBytes.set(max ?? 0)
      const [load, total] = await Promise.all([readQueueLoad(boss), totalBytes()])
      storageBytes.set(total)
      for (const { queue, depth, lagSeconds } of load) {
        queueDepth.set({ queue }, depth)
        queueLagSeconds.set({ queue }, lagSeconds)
      }
    },
  }
}
