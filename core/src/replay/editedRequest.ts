import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import { optional } from '../api/values.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import {
  contentTypeIn,
  type EvaluatedRequest,
  headerText,
  isBase64,
  NOT_BASE64,
  type WireHeader,
  wireField,
  withoutEncoding,
} from '../engine/message/index.ts'

/** Most header fields of a call: as many as a capture can have, with its trailers. */
export const HEADERS_MAX = 2000
/** Characters of the longest method that is captured. */
export const METHOD_MAX = 128
/** A header value: no HTTP client sends another control character than the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
const VALUE = /^[^\x00-\x08\x0a-\x1f\x7f]*$/
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** A text that must match a pattern, with the message for others. */
const spelled = (text: z.ZodString, pattern: RegExp, message: string) =>
  text.refine((value) => pattern.test(value), { params: { code: 'bad_format' }, message })

const edited = z.object({
  method: optional(
    spelled(z.string().min(1).max(METHOD_MAX), TOKEN, 'The value must be an HTTP method, like POST.'),
  ).describe('As it is sent; without it, as captured'),
  headers: optional(
    z
      .array(
        z.object({
          name: spelled(
            z.string().min(1).max(256),
            TOKEN,
            'The value must be a header name, like Content-Type.',
          ),
          value: spelled(
            z.string().max(65_536),
            VALUE,
            'The value of a header is one line, without control characters.',
          ),
        }),
      )
      .max(HEADERS_MAX),
  ).describe(
    'All of them, in wire order; without it, as captured. Those that no forward passes on are left out as always',
  ),
  body: optional(z.string()).describe(
    'Text, or base64 when `bodyIsBinary`; without it, as captured; an empty one is empty',
  ),
  bodyIsBinary: z.boolean().default(false).describe('Whether `body` is base64'),
})

/** Input members that change a captured request before it is sent. */
export const editedInput = edited.shape

/** Issues that the schemas of the members cannot express. */
export function issuesOfEdits({ body, bodyIsBinary }: Accepted<Edits>): InputIssue[] {
  if (body === undefined || bodyIsBinary !== true || isBase64(body)) return []
  return [issue(['body'], 'bad_format', NOT_BASE64)]
}

/** The parsed changes. */
export type Edits = z.output<typeof edited>

/**
 * Applies changes to a captured request. Its record of earlier hops is kept, so that editing cannot bypass the
 * detection of loops. Unchanged values keep their bytes.
 */
export function editedRequest(captured: EvaluatedRequest, edits: Edits): EvaluatedRequest {
  // Another body is not encoded as the captured one was.
  const kept = edits.body === undefined ? captured.headers : withoutEncoding(captured.headers)
  const headers = edits.headers === undefined ? kept : editedHeaders(captured, edits.headers)
  const contentType = contentTypeIn(headers)
  const body =
    edits.body === undefined ? captured.body : Buffer.from(edits.body, edits.bodyIsBinary ? 'base64' : 'utf8')
  return {
    ...captured,
    method: edits.method ?? captured.method,
    headers,
    contentType: contentType === undefined ? null : headerText(contentType),
    body,
    sizeBytes: edits.body === undefined ? captured.sizeBytes : body.length,
    bodyTruncated: edits.body === undefined && captured.bodyTruncated,
  }
}

function editedHeaders(
  captured: EvaluatedRequest,
  headers: readonly { readonly name: string; readonly value: string }[],
): WireHeader[] {
  const wireOf = new Map(captured.headers.map((field) => [`${field[0]}\n${headerText(field[1])}`, field]))
  const isOurs = (name: string) => name.toLowerCase().startsWith('creel-')
  return [
    ...headers
      .filter(({ name }) => !isOurs(name))
      .map((field) => wireOf.get(`${field.name}\n${field.value}`) ?? wireField(field)),
    ...captured.headers.filter(([name]) => isOurs(name)),
  ]
}
