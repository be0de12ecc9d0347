import {
  isJsonNumber,
  memberOf,
  type Node,
  numberText,
  parseLazily,
  writeJson,
} from '../../engine/json/index.ts'
import { isEventId, storedEventId } from '../../engine/verification/index.ts'
import { PAGE_EVENTS } from '../bounds.ts'
import { badAnswer, type CallServices, callSender } from './call.ts'
import type { Answer, Fetching, Scope, SentPage, WholeEvent } from './sender.ts'

/** Credentials for Stripe's list. */
export interface StripeCredentials {
  /** A secret key, or a restricted one that may read events. */
  readonly apiKey: string
}

interface ReadEvent extends Omit<WholeEvent, 'body'> {
  readonly id: string
  readonly at: Date
  readonly node: Node
}

interface ReadPage {
  readonly events: readonly ReadEvent[]
  readonly hasMore: boolean
}

/**
 * Stripe's list of events, `GET /v1/events` (https://docs.stripe.com/api/events/list): the newest first, of the last 30 days, pages by
 * `starting_after`. A page is referred to by the id that it starts after, and stays the same, because the period has an end.
 *
 * @param baseUrl without a trailing slash
 */
export function stripe(
  services: CallServices,
  { baseUrl, credentials }: { readonly baseUrl: string; readonly credentials: StripeCredentials },
): Fetching {
  const read = async (scope: Scope, after: string): Promise<Answer<ReadPage>> => {
    const query = new URLSearchParams({
      limit: String(PAGE_EVENTS),
      'created[gte]': String(Math.floor(scope.since.getTime() / 1000)),
      'created[lte]': String(Math.floor(scope.until.getTime() / 1000)),
    })
    if (after !== '') query.set('starting_after', after)
    for (const type of scope.types) query.append('types[]', type)
    const answer = await callSender(services, {
      method: 'GET',
      url: `${baseUrl}/v1/events?${query}`,
      headers: [
        ['Authorization', `Bearer ${credentials.apiKey}`],
        ['Accept', 'application/json'],
      ],
    })
    if (answer.outcome !== 'ok') return answer
    const page = pageOf(answer.value.text)
    return page === undefined
      ? badAnswer('The sender answered no list of events.')
      : { outcome: 'ok', value: page }
  }

  return {
    brings: 'fetch',
    name: 'Stripe',
    async list(scope, cursor): Promise<Answer<SentPage>> {
      const reference = cursor ?? ''
      const answer = await read(scope, reference)
      if (answer.outcome !== 'ok') return answer
      const { events, hasMore } = answer.value
      return {
        outcome: 'ok',
        value: {
          events: events.map(({ eventId, type, at }) => ({ eventId, type, at, reference })),
          next: hasMore ? (events.at(-1)?.id ?? null) : null,
        },
      }
    },
    async fetchPage(scope, reference) {
      const answer = await read(scope, reference)
      if (answer.outcome !== 'ok') return answer
      const { events } = answer.value
      return {
        outcome: 'ok',
        value: events.map(({ eventId, type, node }) => ({
          eventId,
          type,
          body: Buffer.from(writeJson(node)),
        })),
      }
    },
  }
}

const TYPE_CHARACTERS_MAX = 200

function pageOf(text: string): ReadPage | undefined {
  const page = parseLazily(text)?.value
  const data = memberOf(page, 'data')
  const hasMore = memberOf(page, 'has_more')
  if (!Array.isArray(data) || typeof hasMore !== 'boolean') return undefined
  const events: ReadEvent[] = []
  for (const item of data) {
    const event = eventOf(item)
    if (event === undefined) return undefined
    events.push(event)
  }
  return { events, hasMore }
}

function eventOf(node: Node): ReadEvent | undefined {
  const id = memberOf(node, 'id')
  const type = memberOf(node, 'type')
  const created = memberOf(node, 'created')
  if (typeof id !== 'string' || !isEventId(id) || typeof type !== 'string' || !isJsonNumber(created))
    return undefined
  const at = new Date(Number(numberText(created)) * 1000)
  if (Number.isNaN(at.getTime()) || type === '' || type.length > TYPE_CHARACTERS_MAX) return undefined
  return { id, eventId: storedEventId(id), type, at, node }
}
