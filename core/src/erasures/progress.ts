import { z } from 'zod'

/** Numbers of what holds the value: found by a dry run, else erased. */
export const Counts = z.object({
  requests: z.int().describe('Captures, without those in the recycle bin'),
  binnedRequests: z.int().describe('Captures in the recycle bin'),
  attempts: z.int().describe('Delivery attempts with their records'),
  replayResults: z.int().describe('Answers that replays recorded'),
  alerts: z.int().describe('Messages of alerts'),
  agentEvents: z.int().describe('Events that wait to be sent to agents'),
  notes: z.int().describe('Notes on captures'),
})

/** Parts of an endpoint in each round over all endpoints. */
const PARTS_OF_ROUND = { first: 3, second: 2 } as const

/** Progress of an erasure as it is stored. */
export const Progress = z.object({
  /** Parts that are still to do, in their order. */
  left: z.array(
    z.discriminatedUnion('part', [
      // The endpoints of a round that are not listed yet: a workspace may have very many.
      z.object({
        part: z.literal('round'),
        round: z.enum(['first', 'second']),
        afterEndpointId: z.string(),
        endpointsLeft: z.int(),
        requestId: z.int(),
        // Accepted imports of which some lines have no ids yet: they are waited for before the first round.
        importIds: z.array(z.string()).default([]),
        attemptId: z.int(),
        pendingFromId: z.int(),
      }),
      z.object({ part: z.literal('attempts'), endpointId: z.string(), afterId: z.int(), upToId: z.int() }),
      z.object({
        part: z.literal('requests'),
        endpointId: z.string(),
        afterId: z.int(),
        upToId: z.int(),
        // The last attempt that was looked at, if the first capture after `afterId` has too many for one step.
        attemptAfterId: z.int().default(0),
      }),
      // Attempts that were under way while the captures were looked through. `upToId` is set when they are waited for.
      z.object({
        part: z.literal('late'),
        endpointId: z.string(),
        afterId: z.int(),
        upToId: z.int().nullable(),
      }),
      z.object({ part: z.literal('keptAnswers'), endpointId: z.string(), afterId: z.int() }),
      z.object({ part: z.literal('texts'), endpointId: z.string() }),
      z.object({ part: z.literal('incidents'), afterId: z.string() }),
      // `sentUpTo`: sends begun by then are waited for. Set when the part begins.
      z.object({
        part: z.literal('answers'),
        replayId: z.string(),
        position: z.int(),
        sentUpTo: z.iso.datetime().nullable().default(null),
      }),
      z.object({ part: z.literal('alerts'), afterId: z.string() }),
      z.object({ part: z.literal('agentEvents'), afterId: z.int() }),
    ]),
  ),
  scannedRequests: z.int(),
  scannedAttempts: z.int(),
  counts: Counts,
  /** Endpoints with something found, with the number of captures. */
  endpoints: z.record(z.string(), z.int()),
})

/** {@link Progress} after parsing. */
export type Progress = z.output<typeof Progress>

export type Part = Progress['left'][number]

/** Number of parts that are left, those of endpoints that are not listed yet included. */
export const partsLeft = ({ left }: Progress): number =>
  left.reduce(
    (sum, part) => sum + (part.part === 'round' ? part.endpointsLeft * PARTS_OF_ROUND[part.round] : 1),
    0,
  )

/** Nothing found yet. */
export const NOTHING_FOUND = {
  requests: 0,
  binnedRequests: 0,
  attempts: 0,
  replayResults: 0,
  alerts: 0,
  agentEvents: 0,
  notes: 0,
}
