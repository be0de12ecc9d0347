import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** A delivery, as GitHub's reference shows one in a list (https://docs.github.com/en/rest/repos/webhooks). */
export interface GithubDelivery {
  readonly id: number
  readonly guid: string
  readonly delivered_at: string
  readonly redelivery: boolean
  readonly duration: number
  readonly status: string
  readonly status_code: number
  readonly event: string
  readonly action: string | null
  readonly installation_id: number | null
  readonly repository_id: number | null
  readonly throttled_at: string | null
}

/** A stand-in for the API of a repository's webhook, which sends to a URL. */
export interface GithubApi extends AsyncDisposable {
  readonly url: string
  readonly hookUrl: string
  readonly token: string
  /** Oldest first. */
  readonly deliveries: GithubDelivery[]
  /** Method and address of the calls so far. */
  readonly calls: { readonly method: string; readonly url: URL }[]
  /** How often each delivery was asked for, by its guid. */
  readonly asked: Map<string, number>
  /** URL of the hook. If it is empty, redeliveries are accepted and lost. */
  target: string
  /** Answers a call in place of the API. */
  interfere:
    | ((call: { readonly method: string; readonly number: number }, response: ServerResponse) => boolean)
    | undefined
}

/** The body of the webhook of a delivery. */
export const githubBody = (guid: string) => JSON.stringify({ action: 'opened', issue: { node_id: guid } })

/** The headers of the webhook of a delivery. */
export const githubHeaders = (guid: string, event = 'issues') => ({
  'X-GitHub-Delivery': guid,
  'X-GitHub-Event': event,
})

/** Makes a delivery of some time ago. */
export function githubDelivery(
  number: number,
  at: Date,
  members: Partial<GithubDelivery> = {},
): GithubDelivery {
  return {
    id: 2_000_000_000 + number,
    guid: `58474f00-b361-11eb-836d-${String(number).padStart(12, '0')}`,
    delivered_at: at.toISOString().replace(/\.\d+Z$/, 'Z'),
    redelivery: false,
    duration: 0.03,
    status: 'OK',
    status_code: 200,
    event: 'issues',
    action: 'opened',
    installation_id: null,
    repository_id: 42,
    throttled_at: null,
    ...members,
  }
}

const HOOK = '/repos/octo/app/hooks/7'

/** Starts the stand-in on a free port of the loopback address. */
export async function startGithubApi(): Promise<GithubApi> {
  const deliveries: GithubDelivery[] = []
  const calls: { method: string; url: URL }[] = []
  const sends: Promise<unknown>[] = []
  const redeliver = (delivery: GithubDelivery) => {
    api.asked.set(delivery.guid, (api.asked.get(delivery.guid) ?? 0) + 1)
    const id = Math.max(...deliveries.map((one) => one.id)) + 1
    deliveries.push({ ...delivery, id, redelivery: true, delivered_at: new Date().toISOString() })
    if (api.target === '') return
    const { guid, event } = delivery
    sends.push(
      fetch(api.target, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...githubHeaders(guid, event) },
        body: githubBody(guid),
      }).then(
        (response) => response.body?.cancel(),
        () => {},
      ),
    )
  }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '' } = request
    const url = new URL(request.url ?? '/', api.url)
    calls.push({ method, url })
    if (api.interfere?.({ method, number: calls.length }, response) === true) return
    if (request.headers.authorization !== `Bearer ${api.token}`)
      return say(response, 401, { message: 'Bad credentials' })
    if (method === 'GET' && url.pathname === `${HOOK}/deliveries`) return list(url, response)
    const id = new RegExp(`^${HOOK}/deliveries/(\\d+)/attempts$`).exec(url.pathname)?.[1]
    const delivery = method === 'POST' ? deliveries.find((one) => String(one.id) === id) : undefined
    if (delivery === undefined) return say(response, 404, { message: 'Not Found' })
    redeliver(delivery)
    return say(response, 202, {})
  }
  const list = (url: URL, response: ServerResponse) => {
    const perPage = Math.min(100, Number(url.searchParams.get('per_page') ?? 30))
    const cursor = url.searchParams.get('cursor')
    const listed = deliveries.toReversed()
    const from = cursor === null ? 0 : listed.findIndex(({ id }) => `v1_${id}` === cursor)
    if (from < 0) return say(response, 422, { message: 'Invalid cursor' })
    const next = listed[from + perPage]
    if (next !== undefined)
      response.setHeader(
        'Link',
        `<https://api.github.com${HOOK}/deliveries?per_page=${perPage}&cursor=v1_${next.id}>; rel="next"`,
      )
    return say(response, 200, listed.slice(from, from + perPage))
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The stand-in has no port.')
  const url = `http://127.0.0.1:${address.port}`
  const api: GithubApi = {
    url,
    hookUrl: `${url}${HOOK}`,
    token: 'github_pat_Stand1n',
    deliveries,
    calls,
    asked: new Map(),
    target: '',
    interfere: undefined,
    async [Symbol.asyncDispose]() {
      await Promise.all(sends)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return api
}

function say(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}
