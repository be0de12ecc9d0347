import { DomainError, type Services } from '@creel/core'
import { createRelayEndpoint, RELAY_LIVE_PER_ADDRESS, RELAY_RETRY_MS } from '@creel/core/relay'
import { isJson } from '../console/index.ts'
import { addressGroup } from '../http/connectionTable.ts'
import { addressOf, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { termsPage } from './termsPage.ts'

/** Creations of one address that run or wait in this process. */
const ADDRESS_WAITING_MAX = RELAY_LIVE_PER_ADDRESS
/** Creations that run or wait in this process. */
const CREATIONS_WAITING_MAX = 50
/** Refused addresses that are remembered; each takes some hundred bytes. */
const REFUSED_MAX = 10_000

/** The routes that only a relay has. */
export interface RelayRoutes {
  /** `GET /`: the terms, as a page. */
  terms(): Response
  /**
   * `POST /relay/endpoints` gives an endpoint to a stranger: 201. It takes `application/json`, which pages of other
   * sites cannot send, and ignores the body.
   */
  create(request: Request): Promise<Response>
}

/**
 * The routes of a relay. An address that was refused is refused again from memory until its time, so that asking
 * without end costs the database nothing.
 */
export function relayRoutes(services: Services): RelayRoutes {
  const refused = new Map<string, { readonly error: DomainError; readonly untilMs: number }>()
  const waiting = new Map<string, number>()
  let waitingCount = 0
  let last: Promise<unknown> = Promise.resolve()
  const nowMs = () => services.clock.now().getTime()

  const refusalOf = (group: string): DomainError | undefined => {
    const known = refused.get(group)
    if (known === undefined) return undefined
    const seconds = Math.ceil((known.untilMs - nowMs()) / 1000)
    if (seconds > 0) {
      return new DomainError(known.error.code, known.error.detail, { retryAfterSeconds: seconds })
    }
    refused.delete(group)
    return undefined
  }
  const remember = (group: string, error: DomainError) => {
    const waitMs = (error.more.retryAfterSeconds ?? 0) * 1000
    if (error.code !== 'rate_limited' || waitMs === 0) return
    // The address may end one of its endpoints itself, so that it is looked up again soon.
    refused.set(group, { error, untilMs: nowMs() + Math.min(waitMs, RELAY_RETRY_MS) })
    if (refused.size <= REFUSED_MAX) return
    const [oldest] = refused.keys()
    if (oldest !== undefined) refused.delete(oldest)
  }
  const count = (group: string, by: 1 | -1) => {
    waitingCount += by
    const ofGroup = (waiting.get(group) ?? 0) + by
    if (ofGroup === 0) waiting.delete(group)
    else waiting.set(group, ofGroup)
  }
  const inLine = async (group: string) => {
    if ((waiting.get(group) ?? 0) >= ADDRESS_WAITING_MAX) {
      throw new DomainError('rate_limited', 'Your address asks for too many endpoints at once.', {
        retryAfterSeconds: 1,
      })
    }
    if (waitingCount >= CREATIONS_WAITING_MAX) {
      const detail = 'Too many strangers ask for an endpoint at once.'
      throw new DomainError('unavailable', detail, { retryAfterSeconds: 1 })
    }
    count(group, 1)
    const mine = last.then(async () => {
      const refusal = refusalOf(group)
      if (refusal !== undefined) throw refusal
      return await createRelayEndpoint(services, group)
    })
    last = mine.catch(() => {})
    try {
      return await mine
    } catch (error) {
      if (error instanceof DomainError) remember(group, error)
      throw error
    } finally {
      count(group, -1)
    }
  }

  const page = termsPage(services.urls.baseUrl)
  return {
    terms: () => new Response(page, { headers: PAGE_HEADERS }),
    async create(request) {
      try {
        if (!isJson(request)) throw new DomainError('request_invalid', 'Send application/json.')
        const address = addressOf(request)
        const group = address === null ? '' : addressGroup(address)
        const refusal = refusalOf(group)
        if (refusal !== undefined) throw refusal
        const made = await inLine(group)
        return Response.json(made, { status: 201, headers: { 'Cache-Control': 'no-store' } })
      } catch (error) {
        return problemResponse(services, error, { traceId: traceIdOf(request) })
      }
    },
  }
}

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=3600',
}
