import { z } from 'zod'
import { Timestamp } from '../api/values.ts'
import { OVERVIEW_ENDPOINTS } from './queries.ts'

/** What became of a workspace since the event before; the first event says everything. */
export const WorkspaceEvent = z.object({
  /** Endpoints that are new or changed, among the newest hundred. */
  endpoints: z
    .array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        isActive: z.boolean(),
        expiresAt: Timestamp.nullable(),
        storedRequestCount: z.int(),
        lastRequestAt: Timestamp.nullable(),
        /** Captures answered 429 since it was made: who follows tells from it how many were in between. */
        rejectedCount: z.int(),
      }),
    )
    .max(OVERVIEW_ENDPOINTS),
  /** An endpoint was made or deleted: the list is to be read anew. */
  isListChanged: z.boolean(),
  openIncidentCount: z.int(),
  alarmedWatchdogCount: z.int(),
})
