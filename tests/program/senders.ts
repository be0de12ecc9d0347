import { request } from 'node:http'

/** Result of one attempt to send. */
type Outcome = { readonly status: number } | 'refused' | 'broken'

/**
 * Webhook senders behind a proxy. Each body is unique and goes to one of the addresses over a new connection, and to
 * the next address if that one refuses connections or closes one before it has answered.
 */
export class Senders {
  /** Bodies acknowledged with 200, in the order of their answers. */
  readonly bodies: string[] = []
  readonly statuses = new Set<number>()
  #stopped = false
  #sent = 0
  #noticed = Promise.withResolvers<void>()
  readonly #loops: Promise<void>[]

  /** @param urls capture URLs of one endpoint; may change while senders run */
  constructor(
    readonly urls: string[],
    parallel = 8,
  ) {
    this.#loops = Array.from({ length: parallel }, () => this.#loop())
  }

  /** Resolves when `count` bodies are acknowledged. */
  async acknowledged(count: number): Promise<void> {
    while (this.bodies.length < count) await this.#noticed.promise
  }

  /** Stops, and waits for sends in flight. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      this.#sent += 1
      const body = `{"n":${this.#sent}}`
      const outcome = await this.#deliver(body, this.#sent)
      if (typeof outcome === 'object') this.statuses.add(outcome.status)
      if (typeof outcome === 'object' && outcome.status === 200) this.bodies.push(body)
      else await new Promise((resolve) => setTimeout(resolve, 20))
      this.#noticed.resolve()
      this.#noticed = Promise.withResolvers()
    }
  }

  async #deliver(body: string, turn: number): Promise<Outcome> {
    const urls = [...this.urls]
    let outcome: Outcome = 'refused'
    for (let index = 0; index < urls.length && typeof outcome !== 'object'; index += 1) {
      outcome = await post(urls[(turn + index) % urls.length] ?? '', body)
    }
    return outcome
  }
}

/** Sends over a new connection. */
export function post(url: string, body: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const outgoing = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'application/json' },
    })
    outgoing.on('response', (response) => {
      response.resume()
      response.once('end', () => resolve({ status: response.statusCode ?? 0 }))
      response.once('error', () => resolve('broken'))
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'broken'),
    )
    outgoing.end(body)
  })
}

/** The bodies of all stored requests of an endpoint. */
export async function storedBodies(baseUrl: string, key: string, endpointId: string): Promise<string[]> {
  const headers = { Authorization: `Bearer ${key}` }
  const bodies: string[] = []
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const url = `${baseUrl}/api/v1/endpoints/${endpointId}/requests?pageSize=100&page=${page}`
    const answer = Object(await (await fetch(url, { headers })).json())
    pages = answer.totalPages
    for (const { bodyPreview } of answer.items) bodies.push(bodyPreview)
  }
  return bodies
}
