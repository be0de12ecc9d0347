import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { hasFeature } from '../api/planGates.ts'
import { get, post, router } from '../api/route.ts'
import { searching } from '../requests/index.ts'
import { readArguments } from './filter.ts'
import { pollEvents } from './poll.ts'
import { EventArguments, EventType, PollResult, pollInput, TYPES, typesInput } from './schema.ts'
import { ANY, type EventSource, listSources } from './sources.ts'

/** Webhooks as events for agents: the types that there are, and what happened. */
export const eventRoutes = router({
  types: get('/api/v1/events/types', {
    summary: 'List event types, as `events/list` of `/mcp` does',
    description:
      'Each endpoint has `<slug>.any` and a type for each of its frequent labels. Names never change. At most 300, of the busiest endpoints.',
    input: typesInput,
    output: z.object({ events: z.array(EventType), nextCursor: z.string().nullable() }),
    narrows: true,
  }).query(({ ctx, input }) => listTypes(ctx, input.cursor)),

  poll: post('/api/v1/events/poll', {
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

type ListedType = z.output<typeof EventType>

/** JSON Schema of the arguments, which all types share. */
const INPUT_SCHEMA = z.toJSONSchema(EventArguments, { io: 'input' })

/** A page of the event types that the caller may see, those of the busiest endpoints first; 300 at most. */
async function listTypes(
  ctx: Context,
  cursor: string | undefined,
): Promise<{ events: ListedType[]; nextCursor: string | null }> {
  const sources = await listSources(ctx, (look) => searching(ctx, 'event types', (db) => look(db)))
  const delivery = modesFor(ctx)
  const types = sources.flatMap(({ source, labels }) => [
    typeOf(source, delivery, ANY, 'A webhook of any label arrived at this endpoint.'),
    ...labels.map((label) =>
      typeOf(source, delivery, label, 'A webhook with this label arrived at this endpoint.'),
    ),
  ])
  const listed = types.slice(0, TYPES.max)
  const from = Number(cursor ?? 0)
  const end = from + TYPES.page
  return { events: listed.slice(from, end), nextCursor: end < listed.length ? String(end) : null }
}

/** Modes of delivery. Only a key that may change something, on a plan with subscriptions, has webhooks. */
function modesFor({ scope, plan }: Pick<Context, 'scope' | 'plan'>): ListedType['delivery'] {
  const subscribes = scope !== 'read' && hasFeature(plan, 'eventSubscriptions')
  return subscribes ? ['poll', 'push', 'webhook'] : ['poll', 'push']
}

function typeOf(
  source: EventSource,
  delivery: ListedType['delivery'],
  label: string,
  description: string,
): ListedType {
  return {
    name: `${source.slug}.${label}`,
    description,
    delivery,
    inputSchema: INPUT_SCHEMA,
    payloadSchema: payloadSchema(source),
  }
}

/** Below `fields` nothing is required or closed, so that a change of what senders send only adds. */
function payloadSchema({ fields }: EventSource): Record<string, unknown> {
  const text = { type: 'string' }
  const members = {
    requestId: { type: 'integer' },
    endpoint: text,
    label: { type: ['string', 'null'] },
    receivedAt: { type: 'string', format: 'date-time' },
    method: text,
    verification: text,
    resource: { type: 'string', format: 'uri' },
  }
  return {
    type: 'object',
    properties: {
      ...members,
      fields: { type: 'object', properties: Object.fromEntries(fields.map((field) => [field.text, {}])) },
    },
    required: Object.keys(members),
  }
}
