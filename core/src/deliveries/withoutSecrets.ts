/** Shorter texts occur in answers by chance, and are too short for secrets. */
const SECRET_BYTES_MIN = 6
const HIDDEN = Buffer.from('•••')

/**
 * Bytes of an answer in which a receiver may have repeated what it was sent: `•••` stands for each of some secrets.
 *
 * @param secrets those of less than 6 bytes are left
 * @returns the same bytes when there is none in them
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
