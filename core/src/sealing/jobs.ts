import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/** Seals what endpoints have stored in plain. Singleton, and safe to interrupt. */
export const SEALING = queue({
  name: 'endpoints.seal',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
