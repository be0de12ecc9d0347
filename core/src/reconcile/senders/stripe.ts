import {
  isJsonNumber,
  itemTexts,
  MAX_JSON_DEPTH,
  memberTexts,
  nestsDeeper,
  numberText,
  parseForLooks,
} from '../../engine/json/index.ts'
import { isEventId, storedEventId } from '../../engine/verification/index.ts'
import { PAGE_BYTES_MAX, PAGE_EVENTS } from '../declarations.ts'
import { badAnswer, type CallServices, callSender, tooMany } from './call.ts'
import {
  type Answer,
  type Fetching,
  itemsOf,
  looksOf,
  type Scope,
  type SentPage,
  typeOf,
  type WholeEvent,
} from './sender.ts'

interface ReadEvent extends Omit<WholeEvent, 'body'> {
  readonly id: string
  readonly at: Date
  /** As it is in the page. */
  readonly text: string
}

interface ReadPage {
  readonly events: readonly ReadEvent[]
  readonly hasMore: boolean
  /** How many events were asked for. */
  readonly size: number
}

/** A page: its size, and the id that it starts after; `''` for the newest. */
interface Place {
  readonly size: number
  readonly after: string
}

/** A page that is too long is requested again with this many times fewer events. */
const SMALLER = 4

const referenceOf = ({ size, after }: Place): string => `${size} ${after}`

/** @param reference `''` for the newest page */
function placeOf(reference: string): Place {
  const [, size, after = ''] = /^(\d{1,3}) (.*)$/s.exec(reference) ?? []
  return { size: Number(size ?? PAGE_EVENTS), after }
}

/**
 * Stripe's list of events, `GET /v1/events` (https://docs.stripe.com/api/events/list): the newest first, of the last 30
 * days, pages by `starting_after`. The reference of a page is its size and the id that it starts after. The page does
 * not change, because the period has an end. If events are long, the pages are smaller.
 *
 * @param baseUrl without a trailing slash
 * @param apiKey a secret key, or a restricted one that may read events
 */
export function stripe(services: CallServices, baseUrl: string, apiKey: string): Fetching {
  const read = async (scope: Scope, { size, after }: Place): Promise<Answer<ReadPage>> => {
    const query = new URLSearchParams({
      limit: String(size),
      'created[gte]': String(Math.floor(scope.since.getTime() / 1000)),
      'created[lte]': String(Math.floor(scope.until.getTime() / 1000)),
    })
    if (after !== '') query.set('starting_after', after)
    for (const type of scope.types) query.append('types[]', type)
    const answer = await callSender(services, 'GET', `${baseUrl}/v1/events?${query}`, [
      ['Authorization', `Bearer ${apiKey}`],
      ['Accept', 'application/json'],
    ])
    if (answer.outcome !== 'ok') return answer
    if (answer.value.isTooLong) {
      if (size === 1) return badAnswer(`An event is over ${PAGE_BYTES_MAX} bytes long.`)
      return await read(scope, { size: Math.ceil(size / SMALLER), after })
    }
    const page = memberTexts(answer.value.text)
    const items = itemTexts(page.get('"data"') ?? '')
    if (items !== undefined && items.length > size) return tooMany('events', size)
    const events = itemsOf(items, eventOf)
    const hasMore = looksOf(page.get('"has_more"') ?? '')
    if (events === undefined || typeof hasMore !== 'boolean')
      return badAnswer('The sender answered no list of events.')
    return { outcome: 'ok', value: { events, hasMore, size } }
  }

  return {
    brings: 'fetch',
    name: 'Stripe',
    async list(scope, cursor): Promise<Answer<SentPage>> {
      const place = placeOf(cursor ?? '')
      const answer = await read(scope, place)
      if (answer.outcome !== 'ok') return answer
      const { events, hasMore, size } = answer.value
      const reference = referenceOf({ size, after: place.after })
      const last = events.at(-1)
      return {
        outcome: 'ok',
        value: {
          events: events.map(({ eventId, type, at }) => ({ eventId, type, at, reference })),
          next: hasMore && last !== undefined ? referenceOf({ size, after: last.id }) : null,
        },
      }
    },
    async fetchPage(scope, reference) {
      const answer = await read(scope, placeOf(reference))
      if (answer.outcome !== 'ok') return answer
      const { events } = answer.value
      return {
        outcome: 'ok',
        value: events.map(({ eventId, type, text }) => ({ eventId, type, body: Buffer.from(text) })),
      }
    },
  }
}

/** Reads an event of a page. One that nests too deep to be read is captured like a request that does. */
function eventOf(text: string): ReadEvent | undefined {
  if (!nestsDeeper(text, MAX_JSON_DEPTH) && parseForLooks(text) === undefined) return undefined
  const members = memberTexts(text)
  const read = (name: string) => looksOf(members.get(`"${name}"`) ?? '')
  const id = read('id')
  const type = typeOf(read('type'))
  const created = read('created')
  if (typeof id !== 'string' || !isEventId(id) || type === undefined || !isJsonNumber(created))
    return undefined
  const at = new Date(Number(numberText(created)) * 1000)
  if (Number.isNaN(at.getTime())) return undefined
  return { id, eventId: storedEventId(id), type, at, text }
}
