import { z } from 'zod'
import { Timestamp } from '../api/route.ts'

/** A key as operators see it: never the key itself. */
export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  createdAt: Timestamp,
  revokedAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable().meta({ description: 'To the minute; null for never' }),
})

/** The one answer that holds the whole key. */
export const CreatedKey = z.object({ key: z.string(), prefix: z.string(), name: z.string() })

/** The same for the workspace's owner, with what names the key later. */
export const NewApiKey = z.object({
  id: z.uuid(),
  key: z.string().meta({ description: 'The whole key: it is stored nowhere' }),
  prefix: z.string(),
  name: z.string(),
  createdAt: Timestamp,
})

/** What people call a key: trimmed, 1 to 100 characters. */
export const KeyName = z.string().trim().min(1).max(100)

/** How an operator points at a key: its id or its prefix. */
export const KeyReference = z.string().trim().min(1).max(100)
