import { sweepQueue } from '../platform/queues.ts'

/** Seals what endpoints have stored in plain. Singleton, and safe to interrupt. */
export const SEALING = sweepQueue('endpoints.seal', 300)
