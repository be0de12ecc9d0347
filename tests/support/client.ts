import { z } from 'zod'

/** A JSON object whose members a test reads without declaring them. */
export type Json = { readonly [member: string]: JsonValue }
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | Json

/** A body for fetch. */
export type RequestBody =
  | string
  | Uint8Array<ArrayBuffer>
  | FormData
  | URLSearchParams
  | ReadableStream<Uint8Array>

/** An answer of the API, read whole. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed when it is JSON, else undefined. */
  readonly body: unknown
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent unchanged, instead of a JSON body. */
  readonly rawBody?: RequestBody
  readonly signal?: AbortSignal
}

/** Calls the API with one key. */
export class Client {
  constructor(
    readonly baseUrl: string,
    readonly captureUrl: string,
    readonly key: string,
    readonly workspaceId: string,
    /** Id of the key; empty if the test does not know it. */
    readonly keyId = '',
  ) {}

  /** One call; `path` starts with `/`. Never throws for a status. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.key}`,
        ...(body === undefined && options.rawBody === undefined
          ? {}
          : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      redirect: 'manual',
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.rawBody !== undefined
        ? { body: options.rawBody }
        : body === undefined
          ? {}
          : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
  }

  get = (path: string, options?: CallOptions) => this.call('GET', path, undefined, options)
  post = (path: string, body?: unknown, options?: CallOptions) => this.call('POST', path, body, options)
  put = (path: string, body?: unknown, options?: CallOptions) => this.call('PUT', path, body, options)
  patch = (path: string, body?: unknown, options?: CallOptions) => this.call('PATCH', path, body, options)
  delete = (path: string, options?: CallOptions) => this.call('DELETE', path, undefined, options)

  /** Awaits a call that must succeed, and decodes its body by the schema. */
  async expect<Schema extends z.ZodType>(answer: Promise<Answer>, schema: Schema): Promise<z.output<Schema>> {
    const { status, text, body } = await answer
    if (status >= 300) throw new Error(`The call answered ${status}: ${text}`)
    return schema.parse(body)
  }

  /** Makes an endpoint. */
  async endpoint(members: Readonly<Record<string, unknown>> = {}): Promise<TestEndpoint> {
    const made = await this.expect(
      this.post('/api/v1/endpoints', members),
      z.looseObject({ id: z.string(), url: z.string() }),
    )
    return new TestEndpoint(this, made.id, made.url)
  }
}

/** Request of `capture`: a POST of `{}` by default. */
export interface CaptureOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: RequestBody
  /** Appended to the capture URL: `/suffix?a=1`. */
  readonly suffix?: string
}

const CapturedRow = z.looseObject({
  id: z.int(),
  receivedAt: z.string(),
  method: z.string(),
  state: z.string(),
})

/** An endpoint of a test. Sends to it, and reads its captures. */
export class TestEndpoint {
  constructor(
    readonly client: Client,
    readonly id: string,
    readonly url: string,
  ) {}

  /** A path below the endpoint in the API: `at('/requests')`. */
  at(path: string): string {
    return `/api/v1/endpoints/${this.id}${path}`
  }

  /** Sends a webhook like its sender; returns the sender's answer. */
  send({ method = 'POST', headers = {}, body = '{}', suffix = '' }: CaptureOptions = {}): Promise<Response> {
    return fetch(this.url + suffix, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
      redirect: 'manual',
    })
  }

  /** Sends a webhook that must be stored; returns its row in the list. */
  async capture(options?: CaptureOptions): Promise<z.output<typeof CapturedRow>> {
    const response = await this.send(options)
    await response.body?.cancel()
    const [newest] = await this.requests('pageSize=1')
    if (newest === undefined) throw new Error(`Nothing was stored; the sender saw ${response.status}.`)
    return newest
  }

  /** Imports lines of NDJSON. */
  importLines(rawBody: RequestBody): Promise<Answer> {
    const headers = { 'Content-Type': 'application/x-ndjson' }
    return this.client.post(this.at('/requests/import'), undefined, { rawBody, headers })
  }

  /** Sends several webhooks one after the other, which must be stored; returns their rows, oldest first. */
  async captureMany(count: number, options?: CaptureOptions): Promise<z.output<typeof CapturedRow>[]> {
    for (let index = 0; index < count; index += 1) {
      const response = await this.send(options)
      await response.body?.cancel()
    }
    const rows: z.output<typeof CapturedRow>[] = []
    while (rows.length < count) {
      const before = rows.length === 0 ? '' : `&beforeId=${rows.at(-1)?.id}`
      const page = await this.requests(`pageSize=${Math.min(100, count - rows.length)}${before}`)
      if (page.length === 0) throw new Error(`Only ${rows.length} of ${count} captures are stored.`)
      rows.push(...page)
    }
    return rows.reverse()
  }

  /** Stored requests, newest first: a page of them, or as much as searches find whose time is up before that. */
  async requests(query = 'pageSize=100'): Promise<z.output<typeof CapturedRow>[]> {
    const search = z.object({ complete: z.boolean() }).nullish()
    const page = z.looseObject({ items: z.array(CapturedRow), next: z.string().nullish(), search })
    const read = (cursor = '') =>
      this.client.expect(this.client.get(this.at(`/requests?${query}${cursor}`)), page)
    const wanted = Number(new URLSearchParams(query).get('pageSize') ?? 50)
    let found = await read()
    const { items } = found
    while (items.length < wanted && found.search?.complete === false && typeof found.next === 'string') {
      found = await read(`&before=${found.next}`)
      items.push(...found.items)
    }
    return items
  }
}
