import { randomUUID } from 'node:crypto'
import type { Random } from '../faults/random.ts'
import type { Answer } from './answerReader.ts'
import { malformed } from './malformedAsks.ts'
import type { StoredCapture, Target } from './target.ts'

/** One request, as bytes, and the answers that it may receive. */
export interface Ask {
  /** For messages. */
  readonly name: string
  readonly bytes: Buffer
  /**
   * Length of the head. For bytes that are not HTTP: 1, because the answer may come as soon as the first byte is read.
   */
  readonly headBytes: number
  readonly isHead: boolean
  /** Whether the connection must end with its answer. */
  readonly closes: boolean
  readonly expectsContinue: boolean
  /** The answer is a refusal, and nothing behind it is answered. */
  readonly isMalformed: boolean
  /** A client that sends no more may not get the answer: the call is cancelled. */
  readonly isCancelled: boolean
  /** The answer is a stream without an end. */
  readonly isEndless: boolean
  /** Present where a success means that this capture is stored once. */
  readonly capture?: StoredCapture
  /** @returns what is wrong with this answer, or undefined */
  complaintOf(answer: Answer): string | undefined
}

/** Variations of a request. */
interface Form {
  readonly method: string
  readonly path: string
  readonly fields?: readonly string[]
  readonly body?: Buffer
  readonly isChunked?: boolean
  readonly expectsContinue?: boolean
  readonly isHttp10?: boolean
}

const HONEST = { isMalformed: false, isCancelled: false, isEndless: false } as const
const BODY_SIZES = [0, 1, 40, 900, 900, 5000, 20_000, 70_000] as const
const LONG_BODY_BYTES = 400_000
/** Refusal of a client that asks too often without a key, or for endpoints that do not exist. */
const THROTTLED = 429

/** Makes random requests, each with a tag of its own that its answer repeats where the service allows it. */
export class Asks {
  readonly #random: Random
  readonly #target: Target
  #count = 0

  constructor(random: Random, target: Target) {
    this.#random = random
    this.#target = target
  }

  /** Any well-formed request. */
  any(): Ask {
    const kind = this.#random.below(100)
    if (kind < 45) return this.capture()
    if (kind < 57) return this.#ping()
    if (kind < 67) return this.#endpoint()
    if (kind < 75) return this.#noProcedure()
    if (kind < 82) return this.file()
    if (kind < 88) return this.#toNobody()
    if (kind < 92) return this.#withoutKey()
    if (kind < 96) return this.#health()
    return this.#tunnel()
  }

  /**
   * A capture whose answer repeats its tag, or is that of its endpoint.
   *
   * @param isPlain leaves `Connection: close` and `Expect` away
   */
  capture({ isPlain = false, bytes = this.#bodySize() } = {}): Ask {
    const random = this.#random
    const tag = this.#tag()
    const endpoint = random.pick(this.#target.endpoints)
    const isEchoed = random.chance(0.7)
    const path = `/hook/${endpoint.id}/${tag}${isEchoed ? `?validationToken=${tag}` : ''}`
    const body = Buffer.alloc(bytes, `${tag} `)
    return this.#ask(
      {
        method: isEchoed ? 'POST' : random.pick(['PUT', 'PATCH', 'GET', 'POST']),
        path,
        body,
        isChunked: random.chance(0.35),
        expectsContinue: !isPlain && bytes > 0 && random.chance(0.15),
      },
      isEchoed ? is(200, tag) : is(endpoint.status, endpoint.answer),
      { capture: { tag, endpointId: endpoint.id, bytes }, mayClose: !isPlain },
    )
  }

  /**
   * A capture whose body ends with a byte that the caller may keep back. From an address behind the proxy, where one is
   * named.
   */
  held(forwardedFor?: string): Ask {
    const tag = this.#tag()
    const endpoint = this.#random.pick(this.#target.endpoints)
    const path = `/hook/${endpoint.id}/${tag}?validationToken=${tag}`
    const body = Buffer.from(`held ${tag}`)
    const fields = forwardedFor === undefined ? [] : [`X-Forwarded-For: ${forwardedFor}`]
    const whole = is(200, tag)
    return this.#ask(
      { method: 'POST', path, body, fields },
      (answer) => (answer.status === 503 ? refusal(answer) : whole(answer)),
      { capture: { tag, endpointId: endpoint.id, bytes: body.length }, mayClose: false },
    )
  }

  /** Follows an endpoint. */
  stream(): Ask {
    const path = `/api/v1/endpoints/${this.#random.pick(this.#target.endpoints).id}/requests/stream`
    const ask = this.#ask({ method: 'GET', path, fields: [this.#authorization] }, (answer) =>
      answer.status === 200 || answer.status === THROTTLED ? undefined : `${answer.status} for a stream`,
    )
    return { ...ask, isEndless: true, isCancelled: true }
  }

  /** Bytes that are refused. */
  malformed(): Ask {
    const { name, bytes, statuses } = malformed(this.#random, this.#tag())
    return {
      ...HONEST,
      name,
      bytes,
      headBytes: 1,
      isHead: false,
      closes: true,
      expectsContinue: false,
      isMalformed: true,
      complaintOf: ({ status }) => (statuses.includes(status) ? undefined : `${status} for ${name}`),
    }
  }

  #ping(): Ask {
    const tag = this.#tag()
    const text = JSON.stringify({ jsonrpc: '2.0', id: tag, method: 'ping' })
    const fields = [
      this.#authorization,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
    ]
    const body = Buffer.from(text.padEnd(text.length + this.#random.below(2000)))
    const form = { method: 'POST', path: '/mcp', fields, body, isChunked: this.#random.chance(0.4) }
    return { ...this.#ask(form, holds(200, `"id":"${tag}"`)), isCancelled: true }
  }

  #endpoint(): Ask {
    const { id } = this.#random.pick(this.#target.endpoints)
    const form = { method: 'GET', path: `/api/v1/endpoints/${id}`, fields: [this.#authorization] }
    return { ...this.#ask(form, holds(200, `{"id":"${id}"`)), isCancelled: true }
  }

  #noProcedure(): Ask {
    const tag = this.#tag()
    const form = { method: 'GET', path: `/trpc/${tag}`, fields: [this.#authorization] }
    return { ...this.#ask(form, holds(404, `"path":"${tag}"`)), isCancelled: true }
  }

  /** A file of some length, which the service has at hand. */
  file(): Ask {
    const { path, bytes, digest } = this.#random.pick(this.#target.files)
    const method = this.#random.pick(['GET', 'GET', 'HEAD'])
    const ask = this.#ask({ method, path }, (answer) => {
      if (answer.status !== 200) return `${answer.status} for a file`
      if (Number(answer.fields.get('content-length')) !== bytes) return 'another length than the file'
      return method === 'HEAD' || answer.digest === digest ? undefined : 'other bytes than the file'
    })
    return { ...ask, isCancelled: true }
  }

  #toNobody(): Ask {
    const body = Buffer.alloc(this.#bodySize(), 'x')
    return this.#ask(
      { method: 'POST', path: `/hook/${randomUUID()}`, body, isChunked: this.#random.chance(0.3) },
      ({ status }) => (status === 404 || status === THROTTLED ? undefined : `${status} for no endpoint`),
    )
  }

  #withoutKey(): Ask {
    const ask = this.#ask({ method: 'GET', path: '/api/v1/me' }, ({ status }) =>
      status === 401 || status === THROTTLED ? undefined : `${status} without a key`,
    )
    return { ...ask, isCancelled: true }
  }

  #health(): Ask {
    const isHttp10 = this.#random.chance(0.4)
    return {
      ...this.#ask({ method: 'GET', path: '/healthz', isHttp10 }, holds(200, '"ok"')),
      isCancelled: true,
    }
  }

  #tunnel(): Ask {
    return this.#ask({ method: 'CONNECT', path: 'h:443' }, is(405, ''))
  }

  #ask(
    form: Form,
    complaintOf: Ask['complaintOf'],
    { capture, mayClose = true }: { readonly capture?: StoredCapture; readonly mayClose?: boolean } = {},
  ): Ask {
    const { method, path, fields = [], body, isChunked = false, isHttp10 = false } = form
    const expectsContinue = form.expectsContinue === true && body !== undefined
    const closes = isHttp10 || (mayClose && this.#random.chance(0.04))
    const framing =
      body === undefined ? [] : [isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`]
    const lines = [
      `${method} ${path} HTTP/1.${isHttp10 ? 0 : 1}`,
      'Host: h',
      ...fields,
      ...framing,
      ...(expectsContinue ? ['Expect: 100-continue'] : []),
      ...(closes && !isHttp10 ? ['Connection: close'] : []),
    ]
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    const sent = body === undefined ? Buffer.alloc(0) : isChunked ? this.#chunked(body) : body
    return {
      ...HONEST,
      name: `${method} ${path}`,
      bytes: Buffer.concat([head, sent]),
      headBytes: head.length,
      isHead: method === 'HEAD',
      closes,
      expectsContinue,
      ...(capture === undefined ? {} : { capture }),
      complaintOf,
    }
  }

  #chunked(body: Buffer): Buffer {
    const parts: Buffer[] = []
    for (let at = 0; at < body.length; ) {
      const length = Math.min(body.length - at, 1 + this.#random.below(body.length > 10_000 ? 8000 : 900))
      parts.push(
        Buffer.from(`${length.toString(16)}\r\n`),
        body.subarray(at, at + length),
        Buffer.from('\r\n'),
      )
      at += length
    }
    const trailer = this.#random.chance(0.2) ? 'X-Trailer: t\r\n' : ''
    return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)])
  }

  #bodySize(): number {
    return this.#random.chance(0.02) ? LONG_BODY_BYTES : this.#random.pick(BODY_SIZES)
  }

  #tag(): string {
    this.#count += 1
    return `t${this.#random.seed.toString(36)}x${this.#count}`
  }

  get #authorization(): string {
    return `Authorization: Bearer ${this.#target.key}`
  }
}

const is = (status: number, body: string) => (answer: Answer) =>
  answer.status === status && answer.bodyStart === body && answer.bodyBytes === body.length
    ? undefined
    : `${answer.status} ${JSON.stringify(answer.bodyStart.slice(0, 100))} instead of ${status} ${JSON.stringify(body)}`

const holds = (status: number, part: string) => (answer: Answer) =>
  answer.status === status && answer.bodyStart.includes(part)
    ? undefined
    : `${answer.status} ${JSON.stringify(answer.bodyStart.slice(0, 100))} instead of ${status} with ${part}`

function refusal(answer: Answer): string | undefined {
  return answer.fields.has('retry-after') ? undefined : '503 without Retry-After'
}
