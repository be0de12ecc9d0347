import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import type { Urls } from '../api/services.ts'
import { isStorableTime } from '../api/values.ts'
import { requestUrlOf } from '../endpoints/index.ts'
import { isCredentialName, MASK } from '../engine/credentials.ts'
import { storedHeaders, type WireHeader } from '../engine/message/index.ts'
import { isEventId } from '../engine/verification/index.ts'
import { VERDICTS } from '../engine/words/index.ts'
import { Note, outcomeOf, type RequestRow, redactionView } from '../requests/index.ts'
import { type ExportRow, isTextBody } from './exportQueries.ts'
import type { ExportedRequest } from './formats/index.ts'

interface Writing {
  readonly captureId: string
  readonly urls: Urls
  readonly includeSecrets: boolean
}

/** A request for an export, without its body. */
export function exportedHead(
  row: Omit<RequestRow, 'body'>,
  { captureId, urls, includeSecrets }: Writing,
): Omit<ExportedRequest, 'body'> {
  const headers = storedHeaders(row)
  return {
    receivedAt: row.receivedAt,
    method: row.method,
    url: requestUrlOf(urls, captureId, row),
    headers: includeSecrets ? headers : withoutSecrets(headers),
    contentType: row.contentType,
    label: row.label,
    isText: isTextBody(row),
    bodyTruncated: row.bodyTruncated,
  }
}

/** The fields with the values of credentials masked; names and order are unchanged. */
function withoutSecrets(headers: readonly WireHeader[]): WireHeader[] {
  return headers.map(([name, value]) => [name, isCredentialName(name) ? MASK : value])
}

/**
 * One request as a line of NDJSON, with the API's member names. It contains everything that arrived, byte for byte:
 * data that is not UTF-8 is in base64 and marked so.
 *
 * @param body text if {@link isTextBody} of the row, else base64
 */
export function lineOf(
  row: Omit<ExportRow, 'body'>,
  body: string,
  { includeSecrets }: { readonly includeSecrets: boolean },
): string {
  const headers = storedHeaders(row)
  const { state, deliveryCounts } = outcomeOf(row)
  const line = {
    id: row.id,
    endpointId: row.endpointId,
    receivedAt: row.receivedAt.toISOString(),
    method: row.method,
    path: row.path,
    queryString: row.queryString,
    contentType: row.contentType,
    sizeBytes: row.sizeBytes,
    ip: row.ip,
    label: row.label,
    eventId: row.eventId,
    duplicateOf: row.duplicateOf,
    ...redactionView(row.redaction),
    bodyTruncated: row.bodyTruncated,
    verification: row.verdict === null ? null : { verdict: row.verdict, note: row.verdictNote ?? '' },
    state,
    deliveryCounts,
    note: row.note?.toString() ?? null,
    rawHeaders: (includeSecrets ? headers : withoutSecrets(headers)).map(headerMember),
    body: row.bodyBytes === 0 ? null : body,
    ...(isTextBody(row) ? {} : { bodyEncoding: 'base64' }),
  }
  return `${JSON.stringify(line)}\n`
}

function headerMember([name, value]: WireHeader) {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes)
    ? { name, value: bytes.toString() }
    : { name, value: bytes.toString('base64'), encoding: 'base64' }
}

// Lines with data that the service never captures are refused, so that imported rows are like captured ones. The flag
// `v` makes half a surrogate pair a character of its own, which PostgreSQL cannot store.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
const STORABLE_TEXT = /^[^\x00\p{Surrogate}]*$/v
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
const TARGET = /^[^\x00-\x20\x7f\p{Surrogate}]*$/v
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
const FIELD_VALUE = /^[^\x00\r\n]*$/
// Limit of characters in a capture's head; trailer fields have the same limit again.
const HEAD_CHARACTERS_MAX = 160 * 1024
const FIELDS_MAX = 2000
const METHOD_CHARACTERS_MAX = 128

const encoding = z.enum(['utf8', 'base64']).optional()

interface HeaderMember {
  readonly value: string
  readonly encoding?: z.output<typeof encoding>
}

const Header = z
  .object({
    name: z.string().regex(TOKEN, 'must be the name of a header').max(HEAD_CHARACTERS_MAX),
    value: z.string().regex(FIELD_VALUE, 'must be one line'),
    encoding,
  })
  .refine((header) => header.encoding !== 'base64' || isBase64(header.value), {
    path: ['value'],
    message: 'must be base64',
    abort: true,
  })
  .refine((header) => FIELD_VALUE.test(bytesOf(header)), {
    path: ['value'],
    params: { code: 'bad_format' },
    message: 'must be one line',
  })

/** Schema of a line. Unknown members are ignored, and so are those that the service derives itself. */
export const ImportLine = z
  .object({
    receivedAt: z.iso
      .datetime({ offset: true, abort: true })
      .refine((text) => isStorableTime(new Date(text)), {
        params: { code: 'bad_format' },
        message: 'must be of the years 1 to 9999',
      }),
    method: z.string().regex(TOKEN, 'must be a method').max(METHOD_CHARACTERS_MAX),
    path: z
      .string()
      .max(HEAD_CHARACTERS_MAX)
      .regex(TARGET, 'must have no spaces')
      .regex(/^(\/.*)?$/s, 'must start with /, or be empty')
      .default(''),
    queryString: z
      .string()
      .max(HEAD_CHARACTERS_MAX)
      .regex(TARGET, 'must have no spaces')
      .nullable()
      .default(null),
    contentType: z.string().regex(FIELD_VALUE).nullish(),
    sizeBytes: z.int().min(0).optional(),
    ip: z.string().max(HEAD_CHARACTERS_MAX).regex(STORABLE_TEXT).nullable().default(null),
    label: z.string().min(1).max(200).regex(STORABLE_TEXT).nullable().default(null),
    eventId: z.string().refine(isEventId, 'must be an event id').nullable().default(null),
    redactedPaths: z.array(z.string().regex(STORABLE_TEXT)).default([]),
    redactionFault: z.string().max(300).regex(STORABLE_TEXT).nullable().default(null),
    bodyTruncated: z.boolean().default(false),
    verification: z
      .object({ verdict: z.enum(VERDICTS), note: z.string().max(300).regex(STORABLE_TEXT) })
      .nullable()
      .default(null),
    note: Note.min(1).regex(STORABLE_TEXT).nullable().default(null),
    rawHeaders: z.array(Header).max(FIELDS_MAX).default([]),
    body: z.string().nullable().default(null),
    bodyEncoding: encoding,
  })
  .refine(({ ip, redactedPaths }) => ip === null || redactedPaths.includes('ip') || isAddress(ip), {
    path: ['ip'],
    params: { code: 'bad_format' },
    message: 'must be an address, or be named in redactedPaths',
  })
  .refine(({ bodyTruncated, sizeBytes }) => !bodyTruncated || sizeBytes !== undefined, {
    path: ['sizeBytes'],
    message: 'must be there for a body that was cut',
  })

/** A line after decoding, defaults filled in. */
export type ImportLine = z.output<typeof ImportLine>

/** Whether the text is base64 in the spelling that we write; Node's own decoder accepts anything. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

const Address = z.union([z.ipv4(), z.ipv6()])

/** Whether a capture may have the address: that of a link may name its zone. */
function isAddress(text: string): boolean {
  return Address.safeParse(text.replace(/%[0-9A-Za-z]+$/, '')).success
}

/** The bytes of a header's value, one character a byte. */
function bytesOf({ value, encoding: how = 'utf8' }: HeaderMember): string {
  return Buffer.from(value, how).toString('latin1')
}

export function headersOf(line: ImportLine): WireHeader[] {
  return line.rawHeaders.map((header) => [header.name, bytesOf(header)])
}
