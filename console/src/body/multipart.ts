import { base64Of, bytesOfBase64 } from '../words/copyAs.ts'

export interface Part {
  readonly name: string
  readonly filename: string | null
  readonly type: string | null
  readonly content: Uint8Array<ArrayBuffer>
  /** Text of a short part that is text; else null. */
  readonly text: string | null
}

const TEXT_MAX = 4_000

/**
 * The parts of a multipart body.
 *
 * @param body text, or base64 when `isBinary`
 * @returns null for any other body
 */
export function partsOf(body: string, isBinary: boolean, contentType: string | null): Part[] | null {
  const found = /^multipart\/[^;]*;.*?boundary=(?:"([^"]+)"|([^;\s]+))/is.exec(contentType ?? '')
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) return null
  // One character a byte, so that positions in the text are positions in the bytes.
  const latin = atob(isBinary ? body : base64Of(body))
  const pieces = `\r\n${latin}`.split(`\r\n--${boundary}`).slice(1)
  return pieces.filter((piece) => !piece.startsWith('--')).map(partOf)
}

function partOf(piece: string): Part {
  const end = piece.indexOf('\r\n\r\n')
  const head = utf8(end < 0 ? '' : piece.slice(0, end))
  const content = end < 0 ? '' : piece.slice(end + 4)
  return {
    name: /[;\s]name="([^"]*)"/i.exec(head)?.[1] ?? '',
    filename: /filename="([^"]*)"/i.exec(head)?.[1] ?? null,
    type: /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1] ?? null,
    content: bytesOfBase64(btoa(content)),
    text: textOf(content),
  }
}

function textOf(latin: string): string | null {
  if (latin.length > TEXT_MAX) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytesOfBase64(btoa(latin)))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells bytes from text
    return /[\0-\x08\x0e-\x1f]/.test(text) ? null : text
  } catch {
    return null
  }
}

function utf8(latin: string): string {
  return new TextDecoder().decode(bytesOfBase64(btoa(latin)))
}
