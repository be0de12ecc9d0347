import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** An event, as Stripe's reference shows one (https://docs.stripe.com/api/events/object). */
export interface StripeEvent {
  readonly id: string
  readonly object: 'event'
  readonly api_version: string
  /** Seconds. */
  readonly created: number
  readonly data: { readonly object: Readonly<Record<string, unknown>> }
  readonly livemode: boolean
  readonly pending_webhooks: number
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
  readonly type: string
}

/** A stand-in for Stripe's API: `GET /v1/events` as its reference describes it. */
export interface StripeApi extends AsyncDisposable {
  readonly url: string
  readonly apiKey: string
  /** Oldest first. */
  readonly events: StripeEvent[]
  /** Queries of the calls so far. */
  readonly calls: URLSearchParams[]
  /** Answers a call in place of the list; undefined: the list. */
  interfere: ((call: number, response: ServerResponse) => boolean) | undefined
}

const PAGE = { min: 1, max: 100, default: 10 }

/** Makes an event of some time ago. */
export function stripeEvent(number: number, created: Date, type = 'invoice.paid'): StripeEvent {
  return {
    id: `evt_1Q${String(number).padStart(22, '0')}`,
    object: 'event',
    api_version: '2026-09-30.acacia',
    created: Math.floor(created.getTime() / 1000),
    data: { object: { id: `in_${number}`, object: 'invoice', amount_paid: number, lines: { data: [] } } },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  }
}

/** Starts the stand-in on a free port of the loopback address. */
export async function startStripeApi(events: StripeEvent[] = []): Promise<StripeApi> {
  const calls: URLSearchParams[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stripe.test')
    calls.push(searchParams)
    if (api.interfere?.(calls.length, response) === true) return
    if (request.headers.authorization !== `Bearer ${api.apiKey}`)
      return refuse(response, 401, 'Invalid API Key provided')
    if (request.method !== 'GET' || pathname !== '/v1/events')
      return refuse(response, 404, `Unrecognized request URL (${request.method}: ${pathname}).`)
    const limit = Number(searchParams.get('limit') ?? PAGE.default)
    if (!(limit >= PAGE.min && limit <= PAGE.max)) return refuse(response, 400, 'Invalid limit')
    const from = Number(searchParams.get('created[gte]') ?? 0)
    const to = Number(searchParams.get('created[lte]') ?? Number.POSITIVE_INFINITY)
    const types = searchParams.getAll('types[]')
    const listed = events
      .filter(
        ({ created, type }) =>
          created >= from && created <= to && (types.length === 0 || types.includes(type)),
      )
      .reverse()
    const after = searchParams.get('starting_after')
    const start = after === null ? 0 : listed.findIndex(({ id }) => id === after) + 1
    if (after !== null && start === 0) return refuse(response, 400, `No such event: '${after}'`)
    const data = listed.slice(start, start + limit)
    const has_more = start + limit < listed.length
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ object: 'list', data, has_more, url: '/v1/events' }, null, 2))
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The stand-in has no port.')
  const api: StripeApi = {
    url: `http://127.0.0.1:${address.port}`,
    apiKey: 'rk_test_51Stand1n',
    events,
    calls,
    interfere: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return api
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }))
}
