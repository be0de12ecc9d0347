const PREVIEW_CHARACTERS = 200
/** The most bytes of the characters of a preview, in UTF-8. */
const PREVIEW_BYTES = PREVIEW_CHARACTERS * 4

/**
 * SQL of the first 200 characters of a row's text body, of an encoded one as it is read; null for others. Only rows of
 * early versions, and sealed ones, have it stored.
 */
export const bodyPreviewOf = (row: string): string => `coalesce(${row}.body_preview, nullif(
  substring(case
    when ${row}.decoded_text is not null then substring(${row}.decoded_text from 1 for ${PREVIEW_CHARACTERS})
    when ${row}.body_is_binary then ''
    else body_text_prefix(substring(${row}.body from 1 for ${PREVIEW_BYTES}), ${PREVIEW_BYTES})
  end from 1 for ${PREVIEW_CHARACTERS}), ''))`

interface Previewed {
  readonly body: Uint8Array
  readonly bodyIsBinary: boolean
  readonly decodedText: string | null
}

/** The same of a row that is about to be sealed. */
export function bodyPreview({ body, bodyIsBinary, decodedText }: Previewed): string | null {
  const beginning = body.subarray(0, PREVIEW_BYTES)
  // A character that the end cuts is left out.
  const decode = () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(beginning, { stream: true })
  const text = decodedText ?? (bodyIsBinary ? '' : decode())
  return [...text.slice(0, PREVIEW_BYTES)].slice(0, PREVIEW_CHARACTERS).join('') || null
}
