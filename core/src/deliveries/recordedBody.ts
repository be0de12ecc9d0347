const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The most bytes of an incomplete UTF-8 character at the end of a cut text. */
const PARTIAL_CHARACTER = 3

/**
 * A recorded body as the API shows it: text, or base64 when it is binary (not valid UTF-8, or with a NUL).
 * A text that was cut ends at a whole character.
 */
export function recordedBody(
  bytes: Uint8Array,
  isCut: boolean,
): { readonly body: string | null; readonly bodyIsBinary: boolean } {
  if (bytes.length === 0) return { body: null, bodyIsBinary: false }
  if (!bytes.includes(0)) {
    for (let lost = 0; lost <= (isCut ? PARTIAL_CHARACTER : 0); lost++) {
      try {
        return { body: utf8.decode(bytes.subarray(0, bytes.length - lost)), bodyIsBinary: false }
      } catch {
        // Cut inside a character, or binary: retry with one byte less.
      }
    }
  }
  return { body: Buffer.from(bytes).toString('base64'), bodyIsBinary: true }
}
