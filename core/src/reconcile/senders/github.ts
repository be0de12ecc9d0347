import { isJsonNumber, memberOf, type Node, numberText } from '../../engine/json/index.ts'
import { headerValues, type WireHeader } from '../../engine/message/index.ts'
import { isEventId, storedEventId } from '../../engine/verification/index.ts'
import { storable } from '../../platform/db/index.ts'
import { PAGE_EVENTS } from '../declarations.ts'
import { badAnswer, type CallServices, callSender, tooMany } from './call.ts'
import {
  type Answer,
  itemsOf,
  looksOf,
  type Redelivering,
  type SentEvent,
  type SentPage,
  typeOf,
} from './sender.ts'

/** Path of a hook below the base address of the API. */
const HOOK_PATH = /^\/(?:repos\/[\w.-]{1,100}\/[\w.-]{1,100}|orgs\/[\w.-]{1,100})\/hooks\/\d{1,20}$/
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/

/**
 * Whether a URL is that of a hook in the API. The token is sent to no other host, and to no other part of the API.
 *
 * @param baseUrl without a trailing slash
 */
export function isHookUrl(url: string, baseUrl: string): boolean {
  if (!url.startsWith(`${baseUrl}/`)) return false
  const path = url.slice(baseUrl.length)
  return HOOK_PATH.test(path) && !DOT_SEGMENT.test(path)
}

/** Longest cursor that is taken from a `Link` header. */
const CURSOR_CHARACTERS_MAX = 500

/**
 * The deliveries of a webhook of GitHub (https://docs.github.com/en/rest/repos/webhooks): the newest first, of the last
 * days, pages by the `cursor` of `Link`. Attempts at one event share its `guid`, which is the event's id. A delivery is
 * sent again by `POST …/deliveries/{id}/attempts`.
 *
 * @param credentials `token` may write the hook; `hookUrl`: its address, `https://api.github.com/repos/octo/app/hooks/1`
 */
export function github(
  services: CallServices,
  { token, hookUrl }: { readonly token: string; readonly hookUrl: string },
): Redelivering {
  const headers: readonly WireHeader[] = [
    ['Authorization', `Bearer ${token}`],
    ['Accept', 'application/vnd.github+json'],
    ['X-GitHub-Api-Version', '2022-11-28'],
  ]
  const deliveriesUrl = `${hookUrl}/deliveries`
  return {
    brings: 'redelivery',
    async list({ since, until, types }, cursor): Promise<Answer<SentPage>> {
      const query = new URLSearchParams({ per_page: String(PAGE_EVENTS) })
      if (cursor !== null) query.set('cursor', cursor)
      const answer = await callSender(services, 'GET', `${deliveriesUrl}?${query}`, headers)
      if (answer.outcome !== 'ok') return answer
      const list = looksOf(answer.value.text)
      const deliveries = itemsOf(Array.isArray(list) ? list : undefined, deliveryOf)
      if (deliveries === undefined) return badAnswer('The sender answered no list of deliveries.')
      if (deliveries.length > PAGE_EVENTS) return tooMany('deliveries', PAGE_EVENTS)
      const oldest = deliveries.at(-1)
      const isOver = oldest === undefined || oldest.at < since
      const isMeant = ({ at, type }: SentEvent) =>
        at >= since && at <= until && (types.length === 0 || types.includes(type))
      return {
        outcome: 'ok',
        value: {
          events: deliveries.filter(isMeant),
          next: isOver ? null : nextCursor(answer.value.headers),
        },
      }
    },
    async redeliver(reference) {
      const answer = await callSender(services, 'POST', `${deliveriesUrl}/${reference}/attempts`, headers)
      return answer.outcome === 'ok' ? { outcome: 'ok', value: null } : answer
    },
  }
}

/** The cursor of the next page. Nothing else of the link is used, so that no answer leads to another address. */
function nextCursor(headers: readonly WireHeader[]): string | null {
  const links = headerValues(headers, 'link').join(', ')
  const next = /<([^<>]{1,2000})>\s*;[^<]*\brel="?next"?/.exec(links)?.[1]
  const cursor = next === undefined ? null : (URL.parse(next)?.searchParams.get('cursor') ?? null)
  return cursor === null || cursor === '' || cursor.length > CURSOR_CHARACTERS_MAX ? null : storable(cursor)
}

function deliveryOf(node: Node): SentEvent | undefined {
  const [id, guid, event, deliveredAt] = ['id', 'guid', 'event', 'delivered_at'].map((name) =>
    memberOf(node, name),
  )
  // The text of the number: ids may be greater than a double holds exactly.
  const reference = isJsonNumber(id) ? numberText(id) : ''
  if (!/^\d{1,20}$/.test(reference) || typeof guid !== 'string' || !isEventId(guid)) return undefined
  const type = typeOf(event)
  if (type === undefined) return undefined
  const at = new Date(typeof deliveredAt === 'string' ? deliveredAt : Number.NaN)
  return Number.isNaN(at.getTime()) ? undefined : { eventId: storedEventId(guid), type, at, reference }
}
