import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/** Makes the pages by which text searches skip requests. Singleton, and safe to interrupt. */
export const SEARCH_PAGES = queue({
  name: 'search.pages',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
