import type { SignatureEncoding } from '../providers/index.ts'

/**
 * Converts to byte text: a string whose characters are bytes (latin1), as headers are held. All text that is signed or
 * compared is byte text, so that the received bytes are compared, never a decoded form of them.
 */
export function byteTextOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the common case and is its own byte text.
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Without spaces and tabs at both ends; other blanks of Unicode are ordinary bytes here. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Decodes percent-encoded UTF-8; a text that is none is unchanged. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const HEX = /^(?:[0-9a-fA-F]{2})+$/

/**
 * Decodes a signature. Base64 must be canonical: of two spellings of the same bytes only the one that an encoder makes
 * is accepted, as the providers' own libraries compare text.
 *
 * @returns undefined when the text is not of this encoding
 */
export function decodeSignature(text: string, encoding: SignatureEncoding): Buffer | undefined {
  switch (encoding) {
    case 'hex':
      return HEX.test(text) ? Buffer.from(text, 'hex') : undefined
    case 'base64':
      return canonical(text, 'base64')
    case 'base64url':
      return canonical(text.replace(/={1,2}$/, ''), 'base64url')
    case 'plain':
    case 'jws':
      return bytesOf(text)
  }
}

function canonical(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  if (text === '') return undefined
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : undefined
}

/** Decodes base64 as pasted for a key: padding may be missing, and either alphabet is read. */
export function decodeBase64Key(text: string): Buffer | undefined {
  const bare = text.replace(/={1,2}$/, '')
  if (!/^[A-Za-z0-9+/_-]+$/.test(bare) || bare.length % 4 === 1) return undefined
  return Buffer.from(bare, 'base64')
}

/** Decodes hex as pasted for a key, in either case. */
export function decodeHexKey(text: string): Buffer | undefined {
  return HEX.test(text) ? Buffer.from(text, 'hex') : undefined
}
