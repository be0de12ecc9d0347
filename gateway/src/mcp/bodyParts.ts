import { z } from 'zod'
import type { Masking } from './masked.ts'
import type { McpApi, Octets } from './mcpApi.ts'

/** Bytes of a body that are shown at once unless the model asks for another number. */
const BODY_BYTES = { default: 8192, max: 65_536 } as const
/** Bodies of captures up to this many bytes come with the request, longer ones apart, and only as far as they matter. */
const INLINE_BODY_BYTES_MAX = 65_536

/** Inputs of tools that tell a body in parts. */
export const partInput = {
  bodyOffset: z.int().min(0).optional().describe('Where the part begins, in bytes; default 0'),
  maxBodyBytes: z.int().min(1).max(BODY_BYTES.max).optional(),
}

const WithBody = z.looseObject({ body: z.string().nullable(), bodyIsBinary: z.boolean() })
const Captured = WithBody.extend({ bodyOmitted: z.boolean() })

/** Where a part begins, and how long it may be; in bytes of the body as it was captured. */
export interface PartWanted {
  readonly bodyOffset?: number | undefined
  readonly maxBodyBytes?: number | undefined
}

/**
 * A message of the API, masked, with one part of its body and with where the next part begins. Cut at bytes, so that a part may
 * begin within a character.
 *
 * Of the body only what stands before the end of the part is looked at. What a secret hides is shown by no part: the one in which
 * it begins has the mask, and is longer or shorter than was asked for.
 *
 * @param readStart reads the body up to a byte where the message leaves it out
 * @returns the whole message with the first part; of later parts the body alone
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
  // `rawHeaders` says the same as `headers`, and more.
  const head = await masking.value({ ...rest, ...('rawHeaders' in rest ? {} : { headers }) })
  return { ...Object(head), ...cut }
}

function wholeBody(body: string | null, isBinary: boolean): Octets {
  const bytes = Buffer.from(body ?? '', isBinary ? 'base64' : 'utf8')
  return { text: bytes.toString('latin1'), total: bytes.length }
}

/**
 * A captured request, masked, with one part of its body. Of a long body no more is read than stands before the end of the part.
 *
 * @throws RefusedCall
 */
export async function readCapture(
  api: McpApi,
  named: { readonly endpointId: unknown; readonly requestId: unknown },
  wanted: PartWanted,
  masking: Masking,
) {
  const { bodyOmitted, ...request } = Captured.parse(
    await api.call('requests.get', { ...named, bodyBytesMax: INLINE_BODY_BYTES_MAX }),
  )
  const readStart = (end: number) => api.octets('requests.body', named, end)
  return await withBodyPart(request, wanted, masking, bodyOmitted ? readStart : undefined)
}
