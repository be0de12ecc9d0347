import { z } from 'zod'
import type { Masking } from './masked.ts'
import type { McpApi, Octets } from './mcpApi.ts'

/** Bytes of a body in one part: the default, and the most that a model may ask for. */
const BODY_BYTES = { default: 8192, max: 65_536 } as const
/**
 * A captured body up to this length comes with its request. A longer one is read separately, and only as far as needed.
 */
const INLINE_BODY_BYTES_MAX = 65_536

export const partInput = {
  bodyOffset: z.int().min(0).optional().describe('First byte of the part; default 0'),
  maxBodyBytes: z.int().min(1).max(BODY_BYTES.max).optional(),
}

const WithBody = z.looseObject({ body: z.string().nullable(), bodyIsBinary: z.boolean() })

/** Start and maximum length of a part, in bytes of the captured body. */
export interface PartWanted {
  readonly bodyOffset?: number | undefined
  readonly maxBodyBytes?: number | undefined
}

/**
 * A message of the API, masked, with one part of its body and the offset of the next part. Parts are cut at bytes, so
 * one may begin within a character.
 *
 * The body is read only up to the end of the part. No part reveals a secret: the part in which a secret begins has the
 * mask, and is longer or shorter than requested.
 *
 * @param readStart reads the body up to a byte when the message leaves it out
 * @returns the whole message with the first part; for later parts only the body
 */
export async function withBodyPart(
  message: unknown,
  { bodyOffset = 0, maxBodyBytes = BODY_BYTES.default }: PartWanted,
  masking: Masking,
  readStart?: (end: number) => Promise<Octets>,
) {
  const { body, bodyIsBinary, bodyPreview: _preview, headers, ...rest } = WithBody.parse(message)
  const end = bodyOffset + maxBodyBytes
  const { text, total } = (await readStart?.(end)) ?? wholeBody(body, bodyIsBinary)
  const start = text.slice(0, end)
  const part = bodyIsBinary ? start.slice(bodyOffset) : await masking.part(start, bodyOffset)
  const cut = {
    body: Buffer.from(part, 'latin1').toString(bodyIsBinary ? 'base64' : 'utf8'),
    bodyIsBinary,
    bodyBytes: total,
    bodyOffset,
    nextBodyOffset: end < total ? end : null,
  }
  if (bodyOffset > 0) return cut
  // `rawHeaders` contains the same as `headers`, and more.
  const head = await masking.value({ ...rest, ...('rawHeaders' in rest ? {} : { headers }) })
  return { ...Object(head), ...cut }
}

function wholeBody(body: string | null, isBinary: boolean): Octets {
  const bytes = Buffer.from(body ?? '', isBinary ? 'base64' : 'utf8')
  return { text: bytes.toString('latin1'), total: bytes.length }
}

/**
 * A captured request, masked, with one part of its body. A long body is read only up to the end of the part.
 *
 * @throws CreelError
 */
export async function readCapture(
  api: McpApi,
  named: { readonly endpointId: unknown; readonly requestId: unknown },
  wanted: PartWanted,
  masking: Masking,
) {
  const { bodyOmitted, ...request } = await api.call('requests.get', {
    ...named,
    bodyBytesMax: INLINE_BODY_BYTES_MAX,
  })
  const [endpointId, requestId] = [named.endpointId, named.requestId].map((id) =>
    encodeURIComponent(String(id)),
  )
  const readStart = (end: number) =>
    api.octets(`/api/v1/endpoints/${endpointId}/requests/${requestId}/body`, end)
  return await withBodyPart(request, wanted, masking, bodyOmitted ? readStart : undefined)
}
