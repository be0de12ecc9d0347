import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { hasFeature } from '../api/planGates.ts'
import { searching } from '../requests/index.ts'
import { EventArguments, type EventType, TYPES } from './schema.ts'
import { ANY, type EventSource, listSources } from './sources.ts'

type ListedType = z.output<typeof EventType>

/** JSON Schema of the arguments, which all types share. */
const INPUT_SCHEMA = z.toJSONSchema(EventArguments, { io: 'input' })

/** A page of the event types that the caller may see, those of the busiest endpoints first; 300 at most. */
export async function listTypes(
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
