import { HEADER_NAME } from '../engine/conditions/index.ts'
import { type InputIssue, isLonger } from '../engine/issues.ts'
import { contentTypeIn } from '../engine/message/index.ts'

/**
 * The response to the sender of a capture: as configured by the user (checked on save), as stored, or as it may be
 * served. A stored one may be older than the rules.
 */
export interface CaptureResponse {
  readonly responseStatusCode: number
  readonly responseContentType: string
  /** In the order the user wrote. */
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: string
}

export interface ServedResponse {
  readonly status: number
  /** Null when the status forbids a body. */
  readonly contentType: string | null
  /**
   * The configured headers that may be set, then those that every capture response has. Never
   * `Content-Type`. Values are the UTF-8 bytes of their text as latin1 strings, as node:http writes them.
   */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Empty for 204 and 205, whatever is configured. */
  readonly body: string
}

/** The bounds of what a capture may answer; part of the API. */
export const RESPONSE_LIMITS = {
  contentTypeChars: 100,
  headersMax: 20,
  headerNameChars: 100,
  headerValueChars: 1024,
  bodyBytes: 65536,
} as const

/** Headers that keep a browser that opens a capture URL from running content stored there by others. */
const PROTECTION_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "sandbox; default-src 'none'"],
] as const
const NO_STORE = ['Cache-Control', 'no-store'] as const

/** Headers of our own answers on the capture route (404, 429, 503). */
export const OWN_ANSWER_HEADERS: ServedResponse['headers'] = [...PROTECTION_HEADERS, NO_STORE]

const LISTED_TYPES = new Set([
  'application/json',
  'application/problem+json',
  'text/plain',
  'text/csv',
  'application/xml',
  'text/xml',
  'application/soap+xml',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
])
const TYPES_IN_WORDS =
  'application/json or any +json type, text/plain, text/csv, application/xml, text/xml, application/soap+xml, application/x-www-form-urlencoded, application/octet-stream'

/**
 * Response headers that an endpoint may not set, in lower case. A name that ends in `*` means every name with that
 * prefix.
 */
const REFUSED_HEADERS = [
  // the body's own description, and transport
  ...['content-type', 'content-length', 'content-encoding', 'content-location', 'transfer-encoding'],
  ...['connection', 'keep-alive', 'upgrade', 'trailer', 'te', 'proxy-*', 'via', 'http2-settings'],
  ...['date', 'server', 'alt-svc', 'host'],
  // cookies and other state of the browser
  ...[
    'cookie',
    'set-cookie',
    'set-cookie2',
    'www-authenticate',
    'clear-site-data',
    'service-worker-allowed',
    'sourcemap',
  ],
  // redirects
  ...['location', 'refresh', 'link'],
  // security policies and framing
  ...[
    'content-security-policy*',
    'x-content-security-policy*',
    'x-webkit-csp*',
    'x-content-type-options',
    'x-frame-options',
    'x-xss-protection',
  ],
  ...['strict-transport-security', 'permissions-policy', 'feature-policy', 'document-policy'],
  ...['referrer-policy', 'cross-origin-*', 'origin-agent-cluster', 'expect-ct', 'public-key-pins*'],
  ...['x-permitted-cross-domain-policies', 'report-to', 'reporting-endpoints', 'nel'],
  // orders to a proxy in front of us
  ...['x-accel-*', 'x-sendfile', 'x-litespeed-*', 'x-lighttpd-*', 'x-reproxy-*', 'surrogate-*'],
  // our own
  'creel-*',
]
const REFUSED_NAMES = new Set(REFUSED_HEADERS.filter((name) => !name.endsWith('*')))
const REFUSED_PREFIXES = REFUSED_HEADERS.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))

/** Characters that RFC 9110 forbids in a field value: every control character but the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const HEADER_CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/
const MEDIA_TYPE =
  /^([!#$%&'*+\-.^_`|~0-9a-z]+)\/([!#$%&'*+\-.^_`|~0-9a-z]+)[\t ]*(;[\t ]*charset=(?:utf-8|"utf-8")[\t ]*)?$/i

/** The place of a member in the input, and its name in sentences. */
type Naming = (member: keyof CaptureResponse) => {
  readonly path: readonly (string | number)[]
  readonly label: string
}

/**
 * Checks the parts of a capture response that may not be saved, bounds included. The schema before it checks only
 * types.
 *
 * @param response the members to check; an absent one is not checked, so that an update does not check values that were
 *   stored before the rules
 * @param naming for answers other than the endpoint's own
 * @returns one issue for each refused part, in the order of the members; each `detail` names the refused value
 */
export function checkResponse(
  response: { readonly [Member in keyof CaptureResponse]?: CaptureResponse[Member] | undefined },
  naming: Naming = (member) => ({ path: [member], label: member }),
): InputIssue[] {
  const issues: InputIssue[] = []
  const { responseStatusCode, responseContentType, responseHeaders, responseBody } = response
  if (responseStatusCode !== undefined && !isServableStatus(responseStatusCode)) {
    const { path, label } = naming('responseStatusCode')
    const code = Number.isInteger(responseStatusCode) ? 'out_of_range' : 'type'
    const detail = `${label} ${responseStatusCode} is refused: it must be an integer from 200 to 299 or from 400 to 599.`
    issues.push({ path, code, detail })
  }
  if (responseContentType !== undefined)
    issues.push(...checkContentType(responseContentType, naming('responseContentType')))
  if (responseHeaders !== undefined) issues.push(...checkHeaders(responseHeaders, naming('responseHeaders')))
  if (responseBody !== undefined && Buffer.byteLength(responseBody) > RESPONSE_LIMITS.bodyBytes) {
    const { path, label } = naming('responseBody')
    const detail = `${label} is ${Buffer.byteLength(responseBody)} bytes long; at most ${RESPONSE_LIMITS.bodyBytes} are served.`
    issues.push({ path, code: 'too_long', detail })
  }
  return issues
}

function checkContentType(contentType: string, { path, label }: ReturnType<Naming>): InputIssue[] {
  if (contentType === '') {
    return [{ path, code: 'too_short', detail: `${label} may not be empty.` }]
  }
  if (contentType.length > RESPONSE_LIMITS.contentTypeChars) {
    const detail = `${label} may have at most ${RESPONSE_LIMITS.contentTypeChars} characters.`
    return [{ path, code: 'too_long', detail }]
  }
  if (!MEDIA_TYPE.test(contentType)) {
    const detail = `${label} ${quoted(contentType)} is refused: it must be one media type, with no parameter but charset=utf-8.`
    return [{ path, code: 'bad_format', detail }]
  }
  if (!isServableType(contentType)) {
    const detail = `${label} ${quoted(contentType)} is refused: it must be one of ${TYPES_IN_WORDS}.`
    return [{ path, code: 'not_allowed', detail }]
  }
  return []
}

function checkHeaders(headers: Readonly<Record<string, string>>, named: ReturnType<Naming>): InputIssue[] {
  const { path, label } = named
  const fields = Object.entries(headers)
  const issues = fields.flatMap(([name, value]) => checkHeader(name, value, named))
  if (fields.length <= RESPONSE_LIMITS.headersMax) return issues
  const detail = `${label} may hold at most ${RESPONSE_LIMITS.headersMax} headers, not ${fields.length}.`
  return [{ path, code: 'too_many', detail }, ...issues]
}

function checkHeader(name: string, value: string, { path: at, label }: ReturnType<Naming>): InputIssue[] {
  const path = [...at, name]
  if (name.length > RESPONSE_LIMITS.headerNameChars) {
    const detail = `The response header name ${quoted(name)} is longer than ${RESPONSE_LIMITS.headerNameChars} characters.`
    return [{ path, code: 'too_long', detail }]
  }
  if (!HEADER_NAME.test(name)) {
    return [{ path, code: 'bad_format', detail: `${quoted(name)} is not a header name.` }]
  }
  const issues: InputIssue[] = []
  if (isRefusedHeader(name)) {
    issues.push({ path, code: 'not_allowed', detail: `${label} may not set ${quoted(name)}.` })
  }
  if (isLonger(value, RESPONSE_LIMITS.headerValueChars)) {
    const detail = `The value of response header ${quoted(name)} is longer than ${RESPONSE_LIMITS.headerValueChars} characters.`
    issues.push({ path, code: 'too_long', detail })
  } else if (HEADER_CONTROLS.test(value)) {
    const detail = `The value of response header ${quoted(name)} holds a control character, such as a line break.`
    issues.push({ path, code: 'bad_format', detail })
  }
  return issues
}

/**
 * Makes a stored capture response safe to serve, because it may have been saved before the rules. A content type
 * outside the list becomes `text/plain`, a status outside the ranges (every 3xx) becomes 200, refused headers are
 * dropped. The result can always be written to a socket.
 */
export function safeResponse(stored: CaptureResponse): ServedResponse {
  const { responseContentType: contentType, responseBody: body } = stored
  return hardened({
    status: stored.responseStatusCode,
    contentType: isServableType(contentType) ? contentType : 'text/plain',
    fields: Object.entries(stored.responseHeaders).map(
      ([name, value]) => [name, Buffer.from(value).toString('latin1')] as const,
    ),
    body,
  })
}

export interface ReceivedResponse {
  readonly status: number
  /** In wire order, repeats included; values as latin1. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

/**
 * Makes the answer of a receiver safe to serve, as {@link safeResponse} does, and keeps it to the bounds of headers.
 * XML of every kind but a page keeps its type. Text in ASCII is served as UTF-8, which it is as well.
 *
 * @returns undefined if the body is not text in UTF-8, or is labelled as another encoding and not ASCII
 */
export function relayedResponse({ status, fields, body }: ReceivedResponse): ServedResponse | undefined {
  const given = contentTypeIn(fields) ?? 'text/plain'
  const [, type = '', parameters = ''] = /^\s*([^;\s]*)\s*(.*)$/s.exec(given) ?? []
  const [, charset] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(parameters) ?? []
  const isUtf8 = charset === undefined || /^utf-?8$/i.test(charset)
  if (!isUtf8 && body.some((byte) => byte > 0x7f)) return undefined
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return undefined
  }
  const { contentTypeChars, headersMax, headerNameChars, headerValueChars } = RESPONSE_LIMITS
  const isBounded = ([name, value]: readonly [string, string]) =>
    name.length <= headerNameChars && value.length <= headerValueChars
  const served = charset === undefined ? type : `${type}; charset=utf-8`
  const keepsType = served.length <= contentTypeChars && (isServableType(served) || isServableXml(served))
  return hardened({
    status,
    contentType: keepsType ? served : 'text/plain',
    fields: fields.filter(isBounded),
    fieldsMax: headersMax,
    body: text,
  })
}

/** Drops headers that may not be set, and adds those of every answer. */
function hardened({
  status: given,
  contentType,
  fields,
  fieldsMax,
  body,
}: {
  readonly status: number
  readonly contentType: string
  /** Values as latin1. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The most headers that are kept; all by default. */
  readonly fieldsMax?: number
  readonly body: string
}): ServedResponse {
  const status = isServableStatus(given) ? given : 200
  const bodiless = status === 204 || status === 205
  const kept = fields
    .filter(
      ([name, value]) => HEADER_NAME.test(name) && !isRefusedHeader(name) && !HEADER_CONTROLS.test(value),
    )
    .slice(0, fieldsMax)
  const hasCachePolicy = kept.some(([name]) => name.toLowerCase() === 'cache-control')
  return {
    status,
    contentType: bodiless ? null : contentType,
    headers: [...kept, ...PROTECTION_HEADERS, ...(hasCachePolicy ? [] : [NO_STORE])],
    body: bodiless ? '' : body,
  }
}

function isServableStatus(status: number): boolean {
  return Number.isInteger(status) && ((status >= 200 && status <= 299) || (status >= 400 && status <= 599))
}

/** Any `+json` type but an image: browsers treat none of them as a page, a picture or a script. */
function isServableType(contentType: string): boolean {
  const [, type = '', subtype = ''] = MEDIA_TYPE.exec(contentType.toLowerCase()) ?? []
  return LISTED_TYPES.has(`${type}/${subtype}`) || (type !== 'image' && /.\+json$/.test(subtype))
}

/** Any `+xml` type of an application but a page or a style sheet: it is served as safely as `application/xml`. */
function isServableXml(contentType: string): boolean {
  const [, type = '', subtype = ''] = MEDIA_TYPE.exec(contentType.toLowerCase()) ?? []
  return type === 'application' && /.\+xml$/.test(subtype) && !/^(?:xhtml|xslt)\+xml$/.test(subtype)
}

function isRefusedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return REFUSED_NAMES.has(lower) || REFUSED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

/** The user's text in quotes, shortened for a sentence. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
