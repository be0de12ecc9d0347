import { DomainError, type Services } from '@creel/core'
import { setNewest } from '@creel/core/platform/memory'
import { HOUR_MS } from '@creel/core/platform/time'
import {
  createRelayEndpoint,
  RELAY_CREATIONS_PER_ADDRESS,
  RELAY_ENDPOINTS_MAX,
  RELAY_IDLE_MS,
  RELAY_LIFE_MS,
  RELAY_LIMITS,
  RELAY_LIVE_PER_ADDRESS,
  RELAY_RETRY_MS,
} from '@creel/core/relay'
import { isJson } from './console/index.ts'
import { html, pageResponse } from './html.ts'
import { addressGroup } from './http/connectionTable.ts'
import { addressOf, traceIdOf } from './requestIdentity.ts'
import { problemResponse } from './rest.ts'

/** Creations of one address that run or wait in this process. */
const ADDRESS_WAITING_MAX = RELAY_LIVE_PER_ADDRESS
/** Creations that run or wait in this process. */
const CREATIONS_WAITING_MAX = 50
/** Refused addresses that are remembered; each takes some hundred bytes. */
const REFUSED_MAX = 10_000

/**
 * The routes of a relay. An address that was refused is refused again from memory until its time, so that asking
 * without end costs the database nothing.
 */
export function relayRoutes(services: Services) {
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
    const untilMs = nowMs() + Math.min(waitMs, RELAY_RETRY_MS)
    setNewest(refused, group, { error, untilMs }, REFUSED_MAX)
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

  return {
    /** `GET /`: the terms, as a page. */
    terms: () => termsPage(services.urls.baseUrl),
    /**
     * `POST /relay/endpoints` gives an endpoint to a stranger: 201. It takes `application/json`, which pages of other
     * sites cannot send, and ignores the body.
     */
    async create(request: Request): Promise<Response> {
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

const KIB = 1024

/** The terms of a relay: its use in one command, and every number that bounds it. */
function termsPage(baseUrl: string): Response {
  const { storedRequestsMax, storedBytesMax, payloadBytesMax, captureRatePerMinute, apiRatePerMinute } =
    RELAY_LIMITS
  const rows: readonly (readonly [string, string])[] = [
    [
      'An endpoint ends',
      `${RELAY_IDLE_MS / HOUR_MS} hours after its last capture, call or listener; ${RELAY_LIFE_MS / HOUR_MS} hours after its creation at the latest`,
    ],
    ['Endpoints of an address', `${RELAY_LIVE_PER_ADDRESS} at once, ${RELAY_CREATIONS_PER_ADDRESS} an hour`],
    ['Endpoints in all', String(RELAY_ENDPOINTS_MAX)],
    ['Captures', `${captureRatePerMinute} a minute; bodies of at most ${payloadBytesMax / KIB} KiB`],
    [
      'Stored',
      `the newest ${storedRequestsMax} requests of an endpoint, ${storedBytesMax / KIB / KIB} MiB with their headers`,
    ],
    ['Calls of the API', `${apiRatePerMinute} a minute`],
  ]
  return pageResponse({
    status: 200,
    title: 'Creel relay',
    isWide: true,
    headers: { 'Cache-Control': 'public, max-age=3600' },
    body: html`<p>This server gives a public URL for webhooks to a program on your machine.</p>
<pre>creel listen --relay ${baseUrl} --to 3000</pre>
<p>The command prints the URL. Each request to the URL is stored here, and the command sends it to port 3000 of your machine. It needs no account.</p>
<h2>Terms</h2>
<table>${rows.map(([name, bound]) => html`<tr><td>${name}</td><td>${bound}</td></tr>`)}</table>
<ul>
<li>A URL is not a secret between its sender and you alone: the operator of this server can read what it stores.
Send test data only.</li>
<li>Requests are deleted with their endpoint. The address that created an endpoint is kept until an hour after its end.</li>
<li>This server sends nothing to other servers: no forwards, replays to URLs or alerts.</li>
<li>The operator may end an endpoint, or this service, at any time. There is no warranty.</li>
</ul>`,
  })
}
