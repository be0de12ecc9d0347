import { z } from 'zod'
import { Timestamp } from '../api/route.ts'

/** A key as operators see it: never the key itself. */
export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  createdAt: Timestamp,
  revokedAt: Timestamp.nullable(),
})

/** The one answer that holds the whole key. */
export const CreatedKey = z.object({ key: z.string(), prefix: z.string(), name: z.string() })

export const KeyName = z.string().trim().min(1).max(100)

/** How an operator points at a key: its id or its prefix. */
export const KeyReference = z.string().trim().min(1).max(100)
