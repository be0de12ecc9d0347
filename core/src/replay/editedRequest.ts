import { z } from 'zod'
import { optional } from '../api/values.ts'
import { type EvaluatedRequest, headerText, type WireHeader } from '../engine/message/index.ts'

const HEADERS_MAX = 300
/** No byte of a value may end its field. */
const VALUE = /^[^\r\n\0]*$/
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** Text that is spelled so, and what is said of another. */
const spelled = (text: z.ZodString, pattern: RegExp, message: string) =>
  text.refine((value) => pattern.test(value), { params: { code: 'bad_format' }, message })

const edited = z.object({
  method: optional(spelled(z.string().min(1).max(32), TOKEN, 'An HTTP method is needed, like POST.')).meta({
    description: 'As it is sent; without it, as captured',
  }),
  headers: optional(
    z
      .array(
        z.object({
          name: spelled(
            z.string().min(1).max(256),
            TOKEN,
            'The name of a header is needed, like Content-Type.',
          ),
          value: spelled(z.string().max(65_536), VALUE, 'The value of a header is one line.'),
        }),
      )
      .max(HEADERS_MAX),
  ).meta({
    description:
      'All of them, in wire order; without it, as captured. Those that no forward passes on are left out as always',
  }),
  body: optional(z.string()).meta({
    description: 'Text, or base64 when `bodyIsBinary`; without it, as captured; an empty one is empty',
  }),
  bodyIsBinary: z.boolean().default(false).meta({ description: 'Whether `body` is base64' }),
})

/** What may be changed of a captured request before it is sent. */
export const editedInput = edited.shape

/** The changes after parsing. */
export type Edits = z.output<typeof edited>

/**
 * The captured request with the changes in it. What it passed through on its way here stays known, so that a loop of
 * forwards cannot be edited open; a value that was not touched keeps its bytes.
 */
export function editedRequest(captured: EvaluatedRequest, edits: Edits): EvaluatedRequest {
  const headers = edits.headers === undefined ? captured.headers : editedHeaders(captured, edits.headers)
  const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
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
  const bytesOf = new Map(captured.headers.map(([name, value]) => [`${name}\n${headerText(value)}`, value]))
  const isOurs = (name: string) => name.toLowerCase().startsWith('creel-')
  return [
    ...headers
      .filter(({ name }) => !isOurs(name))
      .map(
        ({ name, value }): WireHeader => [
          name,
          bytesOf.get(`${name}\n${value}`) ?? Buffer.from(value, 'utf8').toString('latin1'),
        ],
      ),
    ...captured.headers.filter(([name]) => isOurs(name)),
  ]
}
