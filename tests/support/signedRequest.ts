import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { SchemeRow } from '../../core/src/engine/providers/index.ts'

/**
 * Signs requests like providers, for tests: by the same catalog as `evaluate`, with none of its code. It puts each
 * signature in the place where `evaluate` must find it.
 */

/** A signed request of a sender. */
export interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** A key pair or secret that fits a scheme: `saved` is what the user stores. */
export interface TestKey {
  readonly saved: string
  readonly bytes: Buffer
  readonly privateKey: KeyObject | undefined
}

const TEXT_SECRET = 'a test secret, not base64 and not hex!'

/** A fresh key for a scheme; another `seed`, another secret. */
export function testKey(row: SchemeRow, seed = ''): TestKey {
  const decode = row.key?.decode ?? 'utf8'
  if (decode === 'public-key') return keyPair(row)
  const prefix = row.key?.stripPrefixes?.[0] ?? row.when?.secretPrefix ?? ''
  const raw = createHash('sha256').update(`creel test ${seed}`).digest()
  const secret = row.mac === 'basic' ? `user${seed}:pass word` : `${TEXT_SECRET}${seed}`
  switch (decode) {
    case 'hex':
      return { saved: raw.toString('hex'), bytes: raw, privateKey: undefined }
    case 'base64':
      return { saved: prefix + raw.toString('base64'), bytes: raw, privateKey: undefined }
    case 'sha1':
      return { saved: secret, bytes: createHash('sha1').update(secret).digest(), privateKey: undefined }
    case 'utf8':
    case 'utf8-nfkd':
      return { saved: secret, bytes: Buffer.from(secret.normalize('NFKD')), privateKey: undefined }
  }
}

function keyPair(row: SchemeRow): TestKey {
  const prefix = row.key?.stripPrefixes?.[0] ?? ''
  const { publicKey, privateKey } =
    row.mac === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : row.mac === 'ecdsa-p256'
        ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const raw = row.mac === 'ed25519' ? der.subarray(-32) : der
  return { saved: prefix + raw.toString('base64'), bytes: raw, privateKey }
}

export interface SignOptions {
  readonly key: TestKey
  /** The public URL that the sender calls, without a query. */
  readonly url: string
  readonly now: Date
  /** Appended to the body to make it longer. */
  readonly padding?: string
}

/** A correctly signed request of a scheme. */
export function signedRequest(row: SchemeRow, options: SignOptions): SignedRequest {
  return new Draft(row, options).finished()
}

/** Builds a request step by step. The signature is added last. */
class Draft {
  private readonly headers: [string, string][] = []
  private readonly query: [string, string][] = []
  private readonly form: [string, string][] = []
  private json: Record<string, unknown> = { id: 'evt_1', type: 'thing.happened', amount: 1.5, name: 'Zoë' }
  private readonly timestamp: string

  constructor(
    private readonly row: SchemeRow,
    private readonly options: SignOptions,
  ) {
    this.timestamp = timestampOf(row, options.now)
    if (options.padding !== undefined) this.json.padding = options.padding
    this.placeTimestamp()
    if (row.idHeader !== undefined) this.headers.push([row.idHeader, 'msg_1'])
    if (row.nonceHeader !== undefined) this.headers.push([row.nonceHeader, 'nonce 1'])
    if (row.when?.header !== undefined) this.headers.push([row.when.header.name, row.when.header.equals])
    if (row.message?.includes('contentful')) {
      this.headers.push(['x-contentful-signed-headers', 'x-contentful-signed-headers,x-contentful-timestamp'])
    }
    if (row.message?.includes('{form:bt_payload}')) this.form.push(['bt_payload', 'PGtpbmQ+Y2hlY2s8L2tpbmQ+'])
    if (row.message?.includes('{form:token}')) this.form.push(['token', 'token 1'])
    if (/formSorted|plivo-v3/.test(row.message ?? '')) this.form.push(['To', '+1 555'], ['Body', 'Zoë & co'])
    if (row.message?.includes('json:signature.token')) setPath(this.json, 'signature.token', 'token 1')
    if (row.message?.includes('notificationItems')) {
      setPath(this.json, 'notificationItems[0].NotificationRequestItem.pspReference', 'psp 1')
      setPath(this.json, 'notificationItems[0].NotificationRequestItem.amount.value', 1130)
    }
    if (row.signature.in === 'formjson') {
      this.json = { event: { event_time: this.timestamp, event_type: 'signature_request_sent' } }
    }
  }

  finished(): SignedRequest {
    if (this.row.bodyDigestQuery !== undefined) {
      const digest = createHash('sha256').update(this.body()).digest('hex')
      this.query.push([this.row.bodyDigestQuery, digest])
    }
    this.placeSignature(this.signature())
    return {
      method: 'POST',
      url: this.url(),
      headers: [['Content-Type', this.contentType()], ...this.headers],
      body: this.body(),
    }
  }

  private isForm(): boolean {
    return this.form.length > 0 || this.row.signature.in === 'form' || this.row.signature.in === 'formjson'
  }

  private contentType(): string {
    return this.isForm() ? 'application/x-www-form-urlencoded' : 'application/json'
  }

  private rawBody: string | undefined

  private body(): string {
    if (this.rawBody !== undefined) return this.rawBody
    if (this.row.signature.in === 'formjson') return formText([['json', JSON.stringify(this.json)]])
    if (this.isForm()) return formText(this.form)
    const json = JSON.stringify(this.json)
    return this.row.message === '{fn:first-json-item}' ? `[ ${json} , {"id":"evt_2"}]` : json
  }

  private url(): string {
    const query = this.query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
    return query === '' ? this.options.url : `${this.options.url}?${query}`
  }

  private placeTimestamp(): void {
    const place = this.row.timestamp
    if (place?.in === 'header') this.headers.push([place.name ?? '', this.timestamp])
    if (place?.in === 'body') {
      const isNumber = place.unit === 'ms'
      setPath(this.json, place.path ?? '', isNumber ? Number(this.timestamp) : this.timestamp)
    }
    if (place?.in === 'form') this.form.push([place.name ?? '', this.timestamp])
  }

  private signature(): string {
    const { row, options } = this
    const { encoding } = row.signature
    if (row.mac === 'token') return options.key.saved
    if (row.mac === 'basic') return Buffer.from(options.key.saved).toString('base64')
    if (row.mac === 'jwt') return this.token()
    const message = Buffer.from(this.message())
    const hash = row.hash === 'from-prefix' ? 'sha256' : (row.hash ?? 'sha256')
    const bytes =
      options.key.privateKey !== undefined
        ? sign(row.mac === 'ed25519' ? null : hash, message, options.key.privateKey)
        : row.mac === 'hash'
          ? createHash(hash).update(message).digest()
          : createHmac(hash, options.key.bytes).update(message).digest()
    return bytes.toString(encoding === 'plain' || encoding === 'jws' ? 'hex' : encoding)
  }

  private message(): string {
    const { row } = this
    if (row.message === '{fn:first-json-item}') return JSON.stringify(this.json)
    if (row.message === '{fn:plivo-v3}') {
      const fields = [...this.form].sort(byName).map((pair) => pair.join(''))
      return `${this.options.url}?${fields.join('')}.nonce 1`
    }
    if (row.message === '{fn:contentful-canonical}') {
      const path = encodeURI(new URL(this.options.url).pathname)
      const headers = `x-contentful-signed-headers:${this.header('x-contentful-signed-headers')};x-contentful-timestamp:${this.timestamp}`
      return `POST\n${path}\n${headers}\n${this.body()}`
    }
    return (row.message ?? '').replace(/\{([^{}]+)\}/g, (_, token: string) => this.filled(token))
  }

  private filled(token: string): string {
    const [kind = '', name = '', path = ''] = token.split(':')
    const simple: Record<string, () => string> = {
      body: () => this.body(),
      timestamp: () => this.timestamp,
      id: () => 'msg_1',
      nonce: () => 'nonce 1',
      method: () => 'POST',
      secret: () => this.options.key.saved,
      url: () => this.url(),
      urlHubspot: () => this.url(),
      urlNoQuery: () => this.options.url,
      formSorted: () =>
        [...this.form]
          .sort(byName)
          .map((pair) => pair.join(''))
          .join(''),
      json: () => String(getPath(this.json, name) ?? ''),
      form: () => this.form.find(([known]) => known === name)?.[1] ?? '',
      formjson: () => String(getPath(this.json, path) ?? ''),
    }
    return simple[kind]?.() ?? ''
  }

  private header(name: string): string | undefined {
    return this.headers.find(([known]) => known === name)?.[1]
  }

  private token(): string {
    const { row, options } = this
    const alg = row.algs?.[0] ?? 'HS256'
    const claims: Record<string, unknown> = { ...row.claims, data: '{"eventType":"thing"}' }
    if (row.bodyHashClaim !== undefined) {
      claims[row.bodyHashClaim.name] = createHash('sha256').update(this.body()).digest('hex')
    }
    const text = [{ alg, typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const bytes =
      options.key.privateKey === undefined
        ? createHmac('sha256', options.key.bytes).update(text).digest()
        : sign('sha256', Buffer.from(text), options.key.privateKey)
    return `${text}.${bytes.toString('base64url')}`
  }

  private placeSignature(signature: string): void {
    const place = this.row.signature
    const value = this.wrapped(signature)
    if (place.in === 'header') this.headers.push([place.name ?? `${place.numberedName}1`, value])
    if (place.in === 'query') this.query.push([place.name ?? '', value])
    if (place.in === 'form') this.form.push([place.name ?? '', value])
    if (place.in === 'formjson') setPath(this.json, place.path ?? '', value)
    if (place.in === 'rawbody') this.rawBody = value
    if (place.in === 'body' && place.path === 'value[*].clientState') {
      this.json = { value: [{ clientState: value }, { clientState: value }] }
    } else if (place.in === 'body') setPath(this.json, place.path ?? '', value)
  }

  /** The signature in its provider's layout. */
  private wrapped(signature: string): string {
    const place = this.row.signature
    const prefix = place.prefixHash === undefined ? (place.prefix ?? '') : 'sha256='
    switch (place.parse) {
      case 'raw':
        return prefix + signature
      case 'list':
        // The right item and an unknown one, as during a rotation.
        return [`${prefix}${signature}`, `${prefix}AAAA`].join(place.pairSep)
      case 'positional':
        return [this.timestamp, 'abcd', signature].join(place.pairSep)
      case 'kv':
      case 'kvgroups': {
        const key = place.keys?.[0] === '*' ? 'public_key' : (place.keys?.[0] ?? '')
        const stamp = place.timestampKey === undefined ? [] : [[place.timestampKey, this.timestamp]]
        return [...stamp, [key, 'abcd'], [key, signature]]
          .map((pair) => pair.join(place.kvSep))
          .join(place.pairSep)
      }
    }
  }
}

function timestampOf(row: SchemeRow, now: Date): string {
  switch (row.timestamp?.unit) {
    case 'ms':
      return String(now.getTime())
    case 'rfc3339':
      return now.toISOString()
    case 'http-date':
      return now.toUTCString()
    default:
      return String(Math.floor(now.getTime() / 1000))
  }
}

function byName(left: readonly [string, string], right: readonly [string, string]): number {
  return left[0] < right[0] ? -1 : 1
}

function formText(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

/** The segments of a path like `a.b[0].c`. */
function steps(path: string): string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '')
}

function getPath(document: unknown, path: string): unknown {
  let reached: unknown = document
  for (const step of steps(path)) {
    reached = typeof reached === 'object' && reached !== null ? Reflect.get(reached, step) : undefined
  }
  return reached
}

function setPath(document: object, path: string, value: unknown): void {
  const names = steps(path)
  let reached: object = document
  for (const [index, name] of names.slice(0, -1).entries()) {
    const inner: unknown = Reflect.get(reached, name)
    const next =
      typeof inner === 'object' && inner !== null ? inner : /^\d+$/.test(names[index + 1] ?? '') ? [] : {}
    Reflect.set(reached, name, next)
    reached = next
  }
  Reflect.set(reached, names.at(-1) ?? '', value)
}
