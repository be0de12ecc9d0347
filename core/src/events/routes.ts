import { z } from 'zod'
import { route, router } from '../api/route.ts'
import { readArguments } from './filter.ts'
import { pollEvents } from './poll.ts'
import { EventType, PollResult, pollInput, typesInput } from './schema.ts'
import { listTypes } from './types.ts'

/** Webhooks as events for agents: the types that there are, and what happened. */
export const eventRoutes = router({
  types: route({
    method: 'GET',
    path: '/api/v1/events/types',
    summary: 'List event types, as `events/list` of `/mcp` does',
    description:
      'Each endpoint has `<slug>.any` and a type for each of its frequent labels. Names never change. At most 300, of the busiest endpoints.',
    input: typesInput,
    output: z.object({ events: z.array(EventType), nextCursor: z.string().nullable() }),
    narrows: true,
  }).query(({ ctx, input }) => listTypes(ctx, input.cursor)),

  poll: route({
    method: 'POST',
    path: '/api/v1/events/poll',
    summary: 'Read events after a cursor, as `events/poll` of `/mcp` does',
    description:
      'Each captured request is an event, oldest first. Keep `cursor` and give it to the next call. `truncated`: events that matched may have been removed before they were read, or were skipped.',
    input: pollInput,
    example: { name: 'shop.order.paid', arguments: { fields: ['body.amount'] }, cursor: '90116' },
    output: PollResult,
    scope: 'read',
    errors: ['not_found'],
    narrows: true,
    check: (_ctx, { arguments: given }) => {
      const read = readArguments(given)
      return 'issues' in read ? read.issues : []
    },
  }).mutation(({ ctx, input }) => pollEvents(ctx, input)),
})
