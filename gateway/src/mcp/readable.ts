import { z } from 'zod'

const Field = z.looseObject({ name: z.string(), value: z.string() })
const Message = z.looseObject({
  headers: z.record(z.string(), z.unknown()).optional(),
  rawHeaders: z.array(Field).optional(),
  body: z.string().nullable(),
  bodyIsBinary: z.boolean(),
  decodedBody: z.looseObject({ text: z.string().nullable() }).nullish(),
})

/** Whether the body of a message arrived with a `Content-Encoding`. */
export function isEncoded(message: Pick<z.output<typeof Message>, 'headers' | 'rawHeaders'>): boolean {
  const fields =
    message.rawHeaders ?? Object.entries(message.headers ?? {}).map(([name, value]) => ({ name, value }))
  return fields.some(
    ({ name, value }) =>
      name.toLowerCase() === 'content-encoding' && !/^\s*(identity)?\s*$/i.test(String(value)),
  )
}

/**
 * A message of the API with its body as it is read: the decoded text in place of the bytes. Encoded bytes without such
 * a text are left out, because their content cannot be masked. All other values are returned as they are.
 */
export function asReadable(value: object): object {
  // Most objects are no messages, and parsing takes longer than a look.
  if (!('bodyIsBinary' in value)) return value
  const message = Message.safeParse(value)
  if (!message.success || !isEncoded(message.data)) return value
  const { decodedBody, ...rest } = message.data
  const { text = null, ...about } = decodedBody ?? {}
  const shown = decodedBody == null ? {} : { decodedBody: about }
  if (text !== null) return { ...rest, ...shown, body: text, bodyIsBinary: false }
  return { ...rest, ...shown, body: rest.bodyIsBinary ? null : rest.body }
}
