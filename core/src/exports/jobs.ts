import { sweepQueue } from '../platform/queues.ts'

/**
 * Finishes imports whose process died, and drops those that were not fully checked. Singleton; the next run resumes
 * where this one stopped.
 */
export const IMPORT_SWEEP = sweepQueue('imports.sweep', 3600)
