/** Shorter texts are not hidden: they occur in answers by chance, and no secret is that short. */
const SECRET_BYTES_MIN = 6
const HIDDEN = Buffer.from('•••')

/**
 * Replaces each secret in the bytes of an answer by `•••`. A receiver may repeat what it was sent.
 *
 * @param secrets a secret of less than 6 bytes is not replaced
 * @returns the same bytes when they contain no secret
 */
export function withoutSecrets(bytes: Uint8Array, secrets: readonly string[]): Buffer {
  let hidden = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (const secret of secrets) {
    const sought = Buffer.from(secret)
    if (sought.length < SECRET_BYTES_MIN) continue
    const parts: Buffer[] = []
    let from = 0
    for (let at = hidden.indexOf(sought); at >= 0; at = hidden.indexOf(sought, from)) {
      parts.push(hidden.subarray(from, at), HIDDEN)
      from = at + sought.length
    }
    if (parts.length > 0) hidden = Buffer.concat([...parts, hidden.subarray(from)])
  }
  return hidden
}
