import { laneQueue } from '../dispatch/index.ts'
import { sweepQueue } from '../platform/queues.ts'

/** Looks at subscriptions that have events to send. */
export const CALLBACK_LANES = laneQueue('subscriptions.lanes')

/**
 * Ends event subscriptions that have expired, also where no process sends, and deletes old messages. Singleton, and
 * as safe to interrupt as the other sweeps.
 */
export const SUBSCRIPTION_SWEEP = sweepQueue('subscriptions.sweep', 300)
