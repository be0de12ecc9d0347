import { sweepQueue } from '../platform/queues.ts'

/** Makes the pages by which text searches skip requests. Singleton, and safe to interrupt. */
export const SEARCH_PAGES = sweepQueue('search.pages', 3600)
