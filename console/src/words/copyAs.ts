import { CONNECTION_FIELDS } from '@creel/core/engine/words'
/** The parts of a request that a command needs. */
export interface Copied {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly { readonly name: string; readonly value: string }[]
  /** Text, or base64 when `bodyIsBinary`; null when empty. */
  readonly body: string | null
  readonly bodyIsBinary: boolean
  /** The body is not loaded: it is read from the file that the page saves it as. */
  readonly bodyOmitted?: boolean
  readonly id?: number
}

/** File name of a saved body. */
const fileOf = ({ id }: Copied) => `request-${id ?? 0}.bin`

/** Fields that the client of the copy sets itself. */
const OWN: ReadonlySet<string> = new Set([...CONNECTION_FIELDS, 'accept-encoding'])

const carried = ({ rawHeaders }: Copied) => rawHeaders.filter(({ name }) => !OWN.has(name.toLowerCase()))

/** Quotes a text as one word for a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * A shell command that sends the same request: same method, address, order of fields, and bytes. A shell word cannot
 * contain NUL, so bodies that are not text, or contain NUL, are passed as base64.
 */
export function asCurl(request: Copied): string {
  const { body, bodyIsBinary, bodyOmitted = false, method, url } = request
  const isPiped = body !== null && (bodyIsBinary || body.includes('\0'))
  const lines = [`curl --globoff -X ${shellWord(method)} ${shellWord(url)}`]
  let hasType = false
  for (const { name, value } of carried(request)) {
    hasType ||= name.toLowerCase() === 'content-type'
    // In curl, a semicolon marks a field without a value.
    lines.push(`-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`)
  }
  if ((body !== null || bodyOmitted) && !hasType) lines.push("-H 'Content-Type:'")
  if (bodyOmitted) lines.push(`--data-binary @${fileOf(request)}`)
  if (body !== null) lines.push(isPiped ? '--data-binary @-' : `--data-raw ${shellWord(body)}`)
  const command = lines.join(' \\\n  ')
  if (body === null || !isPiped) return command
  return `printf %s ${shellWord(bodyIsBinary ? body : base64Of(body))} | base64 -d | ${command}`
}

/** JavaScript that sends the same request. */
export function asFetch(request: Copied): string {
  const { body, bodyIsBinary, bodyOmitted = false, method, url } = request
  const headers = carried(request).map(({ name, value }) => [name, value])
  const options = [
    `  method: ${JSON.stringify(method)},`,
    `  headers: ${JSON.stringify(headers, null, 2).replaceAll('\n', '\n  ')},`,
  ]
  if (bodyOmitted) {
    options.push(`  body: await (await import('node:fs/promises')).readFile('${fileOf(request)}'),`)
  }
  if (body !== null) {
    const literal = JSON.stringify(body)
    options.push(`  body: ${bodyIsBinary ? `Uint8Array.fromBase64(${literal})` : literal},`)
  }
  return `await fetch(${JSON.stringify(url)}, {\n${options.join('\n')}\n})`
}

/** The UTF-8 bytes of a text, in base64. */
export function base64Of(text: string): string {
  let latin = ''
  for (const byte of new TextEncoder().encode(text)) latin += String.fromCharCode(byte)
  return btoa(latin)
}

/** The text of UTF-8; null for other bytes. */
export function utf8Of(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** The bytes of base64. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const latin = atob(base64)
  const bytes = new Uint8Array(latin.length)
  for (let at = 0; at < latin.length; at += 1) bytes[at] = latin.charCodeAt(at)
  return bytes
}
