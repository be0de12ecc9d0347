import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/**
 * Finishes imports whose process died, and drops those that were not fully checked. Singleton; the next run resumes
 * where this one stopped.
 */
export const IMPORT_SWEEP = queue({
  name: 'imports.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
