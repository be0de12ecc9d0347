import { DomainError } from '@creel/core'

/** Longest form, in bytes. */
const FORM_BYTES_MAX = 16_384

interface FormRequest {
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array> | null
}

/**
 * Reads the form that a request carries.
 *
 * @throws DomainError `request_invalid` for another media type, or when it is too long
 */
export async function readForm(request: FormRequest): Promise<URLSearchParams> {
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') {
    throw new DomainError('request_invalid', 'Send application/x-www-form-urlencoded.')
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > FORM_BYTES_MAX) throw new DomainError('request_invalid', 'The form is over 16 KiB.')
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
