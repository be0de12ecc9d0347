import { z } from 'zod'

/** Bytes of a body that are shown at once unless the model asks for another number. */
const BODY_BYTES = { default: 8192, max: 65_536 } as const

/** Inputs of tools that tell a body in parts. */
export const partInput = {
  bodyOffset: z.int().min(0).optional().describe('Where the part begins, in bytes; default 0'),
  maxBodyBytes: z.int().min(1).max(BODY_BYTES.max).optional(),
}

const WithBody = z.looseObject({ body: z.string().nullable(), bodyIsBinary: z.boolean() })

/** Where a part begins, and how long it may be; in bytes. */
export interface PartWanted {
  readonly bodyOffset?: number | undefined
  readonly maxBodyBytes?: number | undefined
}

/**
 * A message of the API with one part of its body, and with where the next part begins. Cut at bytes, so that a part may begin
 * within a character. It must have been masked before: the cut may part a name from its secret.
 *
 * @returns the whole message with the first part; of later parts the body alone
 */
export function withBodyPart(message: unknown, { bodyOffset = 0, maxBodyBytes }: PartWanted) {
  const { body, bodyIsBinary, bodyPreview: _preview, headers, ...rest } = WithBody.parse(message)
  const bytes = Buffer.from(body ?? '', bodyIsBinary ? 'base64' : 'utf8')
  const part = bytes.subarray(bodyOffset, bodyOffset + (maxBodyBytes ?? BODY_BYTES.default))
  const end = bodyOffset + part.length
  const cut = {
    body: part.toString(bodyIsBinary ? 'base64' : 'utf8'),
    bodyIsBinary,
    bodyBytes: bytes.length,
    bodyOffset,
    nextBodyOffset: end < bytes.length ? end : null,
  }
  if (bodyOffset > 0) return cut
  // `rawHeaders` says the same as `headers`, and more.
  return { ...rest, ...('rawHeaders' in rest ? {} : { headers }), ...cut }
}
