import type { SignatureEncoding } from '../providers/index.ts'
import { bytesOf } from './byteText.ts'

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
