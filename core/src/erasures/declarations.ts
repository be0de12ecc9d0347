import { z } from 'zod'
import { sealedTable } from '../platform/secrets/index.ts'
import { type Runs, runQueues } from '../runs/index.ts'

export const [ERASURE_RUNS, ERASURE_SWEEP] = runQueues('erasures', z.object({ erasureId: z.uuid() }), {
  expireInSeconds: 300,
  batchSize: 1,
  pollSeconds: 5,
})

const UNFINISHED_MAX = 5

/** Lease of an erasure, in milliseconds. A step takes milliseconds to seconds, and hostile bodies a minute. */
export const LEASE_MS = 60_000

export const ERASURES: Runs<{ erasureId: string }> = {
  table: 'erasures',
  queue: ERASURE_RUNS,
  payloadOf: (erasureId) => ({ erasureId }),
  unfinishedMax: UNFINISHED_MAX,
  refusal: `${UNFINISHED_MAX} erasures have not ended yet.`,
}

/** Secrets that the noun stores: values of erasures that have not ended. */
export const SEALED_ERASURES = sealedTable('erasures', ['value'])
