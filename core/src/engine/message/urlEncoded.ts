/**
 * One character of UTF-8 in percent escapes. A run of escapes is tried character by character, so that one
 * bad escape does not spoil its neighbours.
 */
const ESCAPED_CHARACTER =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi

function decodeEscapes(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replace(ESCAPED_CHARACTER, (escapes) => {
      try {
        return decodeURIComponent(escapes)
      } catch {
        return escapes
      }
    })
  }
}

/** Decodes one component of a query or form: `+` is a space, a bad escape stays as written. */
export function decodeComponent(text: string): string {
  return decodeEscapes(text.replaceAll('+', ' '))
}

/**
 * The pairs of a query string or of an `application/x-www-form-urlencoded` body, decoded, in wire order,
 * repeats kept: `+` is a space, a bad escape stays as written, a name without `=` has the
 * value `''`; empty pieces (`a=1&&b=2`) are skipped. Never throws.
 *
 * @param text without a leading `?`
 */
export function urlEncodedPairs(text: string): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (const piece of text.split('&')) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const name = equals < 0 ? piece : piece.slice(0, equals)
    const value = equals < 0 ? '' : piece.slice(equals + 1)
    pairs.push([decodeComponent(name), decodeComponent(value)])
  }
  return pairs
}
