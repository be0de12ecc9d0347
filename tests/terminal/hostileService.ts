/** Text in answers of a service that attacks the terminal of its reader. */
export const FORGED = 'creel key creel_live_forged'

/** Every kind of character that a terminal obeys or that changes how text is read, and a line that looks like ours. */
export const HOSTILE = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(0x7f + code)),
  '\u001b]0;owned\u0007\u001b[2J\u001b]52;c;b3duZWQ=\u0007\u009b31m',
  '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ud800',
  `\r\n${FORGED}\n`,
].join('')

const ID = '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'

/** A captured request of the hostile service. */
export const hostileRequest = (id: number, members: Readonly<Record<string, unknown>> = {}) => ({
  id,
  endpointId: ID,
  receivedAt: `2026-11-22T10:00:00.000Z${HOSTILE}`,
  method: HOSTILE,
  path: `/${HOSTILE}`,
  contentType: HOSTILE,
  sizeBytes: 3,
  ip: HOSTILE,
  label: HOSTILE,
  bodyTruncated: false,
  bodyIsBinary: false,
  // `constructor` is a member of every object, and must not be found in a table of words.
  verification: { verdict: 'constructor', note: HOSTILE },
  state: HOSTILE,
  attemptCount: 0,
  url: `http://127.0.0.1/${HOSTILE}`,
  queryString: HOSTILE,
  rawHeaders: [{ name: HOSTILE, value: HOSTILE }],
  body: `one${HOSTILE}`,
  ...members,
})

const endpoint = {
  id: ID,
  name: `shop${HOSTILE}`,
  url: `http://127.0.0.1/hook/${HOSTILE}`,
  isActive: true,
  createdAt: HOSTILE,
  lastRequestAt: HOSTILE,
  storedRequestCount: 1,
  provider: HOSTILE,
  previousUrlUntil: HOSTILE,
}

const outcome = {
  actionName: HOSTILE,
  kind: HOSTILE,
  state: HOSTILE,
  statusCode: null,
  error: HOSTILE,
  url: HOSTILE,
  durationMs: 1,
}

const page = (...items: readonly unknown[]) => ({
  items,
  totalCount: items.length,
  totalPages: 1,
  next: null,
})

/** Names that a shell would execute if completion put them on a command line unescaped. */
const NAMES = [
  '$(touch owned)',
  '`id`',
  "'; id",
  '--url=http://owned',
  '~',
  '*',
  'a\nowned',
  'a b',
  '=ls',
  HOSTILE,
]

const ANSWERS: Readonly<Record<string, unknown>> = {
  'GET /api/v1/me': {
    key: { prefix: HOSTILE, name: HOSTILE, scope: HOSTILE, endpointId: HOSTILE, expiresAt: HOSTILE },
    workspace: { name: HOSTILE },
    plan: { displayName: HOSTILE },
  },
  'GET /api/v1/endpoints': page(endpoint),
  'POST /api/v1/endpoints': endpoint,
  [`PATCH /api/v1/endpoints/${ID}`]: endpoint,
  [`POST /api/v1/endpoints/${ID}/rotate-url`]: endpoint,
  [`DELETE /api/v1/endpoints/${ID}`]: {},
  [`GET /api/v1/endpoints/${ID}/requests`]: page(hostileRequest(1)),
  [`GET /api/v1/endpoints/${ID}/requests/1`]: hostileRequest(1),
  [`GET /api/v1/endpoints/${ID}/requests/await`]: hostileRequest(1),
  [`DELETE /api/v1/endpoints/${ID}/requests`]: { deletedCount: HOSTILE },
  [`POST /api/v1/endpoints/${ID}/requests/1/replay`]: {
    requestId: 1,
    state: HOSTILE,
    outcomes: [outcome],
    listenerCount: 1,
  },
  [`POST /api/v1/endpoints/${ID}/samples`]: {
    requestId: 1,
    provider: HOSTILE,
    event: HOSTILE,
    signed: false,
  },
  [`GET /api/v1/endpoints/${ID}/actions`]: {
    actions: [{ id: ID, name: HOSTILE, kind: HOSTILE, isActive: true }],
  },
  [`GET /api/v1/endpoints/${ID}/deliveries`]: page({
    ...outcome,
    id: 1,
    requestId: 1,
    at: HOSTILE,
    attemptNumber: 1,
  }),
  [`GET /api/v1/endpoints/${ID}/deliveries/1`]: outcome,
  'GET /api/v1/watchdogs': page({
    id: ID,
    name: HOSTILE,
    endpointName: HOSTILE,
    state: HOSTILE,
    expectedIntervalSeconds: 1,
    graceSeconds: 1,
    lastMatchedAt: HOSTILE,
    dueAt: HOSTILE,
  }),
  'GET /api/v1/samples': {
    items: [...NAMES, 'stripe'].map((provider) => ({
      provider,
      events: NAMES.map((event) => ({ event, summary: HOSTILE })),
    })),
  },
  'POST /api/v1/sign-in-links': { url: `file:///etc/passwd?${HOSTILE}` },
}

/** A malicious service with the API that the terminal expects. */
export interface HostileService extends AsyncDisposable {
  readonly url: string
  /** Every call so far, as `METHOD /path`. */
  readonly calls: readonly string[]
}

/**
 * Starts the service on a free port.
 *
 * @param behaviour `captures`: requests of its stream, one event each. `refuses`: every call is answered with a
 *   problem.
 */
export function startHostileService({
  captures = [hostileRequest(1)],
  refuses = false,
}: {
  readonly captures?: readonly ReturnType<typeof hostileRequest>[]
  readonly refuses?: boolean
} = {}): HostileService {
  const calls: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      const call = `${request.method} ${pathname}`
      calls.push(call)
      if (refuses) {
        const wrong = { detail: HOSTILE, pointer: HOSTILE, code: HOSTILE }
        const problem = { code: 'constructor', detail: HOSTILE, traceId: HOSTILE, errors: [wrong, wrong] }
        return Response.json(problem, {
          status: 500,
          headers: { 'content-type': 'application/problem+json' },
        })
      }
      if (pathname.endsWith('/stream')) return new Response(eventsOf(captures), { headers: EVENT_STREAM })
      if (pathname.endsWith('/export')) return new Response(`${HOSTILE}\n`)
      const answer = ANSWERS[call]
      return answer === undefined ? new Response(null, { status: 404 }) : Response.json(answer)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    calls,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const EVENT_STREAM = { 'content-type': 'text/event-stream' }

function eventsOf(captures: readonly ReturnType<typeof hostileRequest>[]): ReadableStream<Uint8Array> {
  const text = captures
    .map(
      (request, at) => `id: ${at + 1}\nevent: captured\ndata: ${JSON.stringify({ requests: [request] })}\n\n`,
    )
    .join('')
  return new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(text)) })
}
