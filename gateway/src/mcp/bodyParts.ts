import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import type { Masking } from './masked.ts'
import type { McpApi, Octets } from './mcpApi.ts'
import { asReadable, isEncoded } from './readable.ts'

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

const endOf = ({ bodyOffset = 0, maxBodyBytes = BODY_BYTES.default }: PartWanted) => bodyOffset + maxBodyBytes

/**
 * A message of the API, masked, with one part of its body and the offset of the next part. Parts are cut at bytes, so
 * one may begin within a character.
 *
 * No part reveals a secret: the part in which a secret begins has the mask, and is longer or shorter than requested. An
 * encoded body is given decoded. One that cannot be decoded as text is null, because it cannot be masked.
 *
 * @param start the body up to the end of the part, when the message leaves it out
 * @returns the whole message with the first part; for later parts only the body
 */
export async function withBodyPart(message: object, wanted: PartWanted, masking: Masking, start?: Octets) {
  const { body, bodyIsBinary, bodyPreview: _preview, headers, ...rest } = WithBody.parse(asReadable(message))
  const { bodyOffset = 0 } = wanted
  const end = endOf(wanted)
  const isLeftOut = bodyIsBinary && isEncoded(message)
  const { text, total } = isLeftOut ? NO_OCTETS : (start ?? wholeBody(body, bodyIsBinary))
  const part = await masking.part(text.slice(0, end), bodyOffset)
  const cut = {
    body: isLeftOut ? null : Buffer.from(part, 'latin1').toString(bodyIsBinary ? 'base64' : 'utf8'),
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

const NO_OCTETS: Octets = { text: '', total: 0 }

function wholeBody(body: string | null, isBinary: boolean): Octets {
  const bytes = Buffer.from(body ?? '', isBinary ? 'base64' : 'utf8')
  return { text: bytes.toString('latin1'), total: bytes.length }
}

/** Whether octets, whose end may cut a character, are text. */
function isText({ text }: Octets): boolean {
  const bytes = Buffer.from(text, 'latin1')
  return !bytes.includes(0) && [0, 1, 2, 3].some((lost) => isUtf8(bytes.subarray(0, bytes.length - lost)))
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
  if (!bodyOmitted) return await withBodyPart(request, wanted, masking)
  const [endpointId, requestId] = [named.endpointId, named.requestId].map((id) =>
    encodeURIComponent(String(id)),
  )
  const path = `/api/v1/endpoints/${endpointId}/requests/${requestId}/body`
  const encoded = isEncoded(request)
  const start = await api.octets(encoded ? `${path}?decoded=true` : path, endOf(wanted))
  const bodyIsBinary = encoded ? !isText(start) : request.bodyIsBinary
  return await withBodyPart({ ...request, bodyIsBinary }, wanted, masking, start)
}
