import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { Int64, optional, Timestamp } from '../api/values.ts'

/** Common filters of the bin's routes. */
export const binFilters = {
  endpointId: optional(z.guid()).meta({ description: 'Only requests of this endpoint' }),
}

/** A deleted request that can still be restored. */
export const BinnedRequest = withExample(
  'BinnedRequest',
  z.object({
    id: Int64,
    endpointId: z.uuid(),
    endpointName: z.string(),
    method: z.string(),
    path: z.string(),
    label: z.string().nullable(),
    contentType: z.string().nullable(),
    sizeBytes: z.int(),
    receivedAt: Timestamp,
    deletedAt: Timestamp,
    purgesAt: Timestamp.meta({
      description: 'Time of permanent deletion; earlier if the storage limit is reached, see `evicted`',
    }),
  }),
)

/** Requests that left the bin early, in each page of the bin. */
export const binEvictions = {
  evicted: z
    .object({
      count: z.int(),
      lastAt: Timestamp.nullable().meta({ description: 'Time of the latest eviction; null: none' }),
    })
    .meta({
      description:
        'Requests deleted permanently before their `purgesAt`: at `CREEL_STORAGE_MAX` the bin is emptied first',
    }),
}

export const Restored = z
  .object({
    restoredCount: z.int(),
    skippedAtCap: z.int().meta({
      description: 'Left in the bin because their endpoint is at its stored-request limit',
    }),
  })
  .meta({ id: 'Restored' })
