import { z } from 'zod'
import { Timestamp } from '../api/values.ts'
import { OVERVIEW_ENDPOINTS } from './queries.ts'

/** Changes of a workspace since the previous event; the first event contains everything. */
export const WorkspaceEvent = z.object({
  /** New or changed endpoints, among the newest hundred. */
  endpoints: z
    .array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        isActive: z.boolean(),
        expiresAt: Timestamp.nullable(),
        storedRequestCount: z.int(),
        lastRequestAt: Timestamp.nullable(),
        /** Captures answered 429 since its creation; the difference of two events is the number in between. */
        rejectedCount: z.int(),
        /** Requests among those of its newest 200 failed attempts whose delivery failed or is a dead letter. */
        attentionCount: z.int(),
      }),
    )
    .max(OVERVIEW_ENDPOINTS),
  /** An endpoint was created or deleted, so the list must be reloaded. */
  isListChanged: z.boolean(),
  openIncidentCount: z.int(),
  alarmedWatchdogCount: z.int(),
})

/** Deliveries of an action that wait for an attempt. */
export const Waiting = z.object({
  actionId: z.uuid(),
  actionName: z.string(),
  endpointId: z.uuid(),
  endpointName: z.string(),
  isPaused: z.boolean(),
  /** At most 1,000 are counted. */
  waitingCount: z.int(),
  oldestAt: Timestamp.nullable(),
  nextAttemptAt: Timestamp.nullable(),
})
