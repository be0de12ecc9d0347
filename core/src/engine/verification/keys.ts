import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import type { SchemeRow } from '../providers/index.ts'
import { decodeBase64Key, decodeHexKey } from './byteText.ts'

/** Key of a scheme: bytes for MACs, digests and tokens; a public key for signatures. */
export type Key =
  | { readonly kind: 'secret'; readonly bytes: Buffer }
  | { readonly kind: 'public'; readonly key: KeyObject }

/** The reason why a secret is not a key for a scheme: a sentence for the user, without the secret. */
export interface KeyProblem {
  readonly problem: string
}

/** Accepted sizes of RSA keys: checks with larger ones take too long on the capture path. */
const RSA_BITS = { min: 1024, max: 8192 } as const

type PublicKeyType = 'ed25519' | 'rsa' | 'ec'

const PUBLIC_KEY_TYPES: Partial<Record<SchemeRow['mac'], PublicKeyType>> = {
  ed25519: 'ed25519',
  'ecdsa-p256': 'ec',
  rsa: 'rsa',
  jwt: 'rsa',
}

/**
 * Makes the key of a scheme from a stored signing secret, or says why that is impossible.
 *
 * @param secret as the user saved it; one of the rule's prefixes is removed first
 */
export function keyFor(scheme: Pick<SchemeRow, 'mac' | 'key'>, secret: string): Key | KeyProblem {
  const decode = scheme.key?.decode ?? 'utf8'
  // Blanks around an encoded key come from pasting. In a text they may be intended.
  const given = decode === 'hex' || decode === 'base64' ? secret.trim() : secret
  const prefix = scheme.key?.stripPrefixes?.find((candidate) => given.startsWith(candidate)) ?? ''
  const text = given.slice(prefix.length)
  switch (decode) {
    case 'utf8':
      return secretKey(Buffer.from(text, 'utf8'))
    case 'utf8-nfkd':
      return secretKey(Buffer.from(text.normalize('NFKD'), 'utf8'))
    case 'sha1':
      return secretKey(createHash('sha1').update(text).digest())
    case 'hex':
      return secretKey(decodeHexKey(text) ?? { problem: 'The signing secret must be hexadecimal.' })
    case 'base64':
      return secretKey(
        decodeBase64Key(text) ?? { problem: `The signing secret must be base64${after(scheme)}.` },
      )
    case 'public-key':
      return publicKey(text, PUBLIC_KEY_TYPES[scheme.mac] ?? 'rsa')
  }
}

function after(scheme: Pick<SchemeRow, 'key'>): string {
  const prefix = scheme.key?.stripPrefixes?.[0]
  return prefix === undefined ? '' : `, with or without ${prefix} before it`
}

function secretKey(bytes: Buffer | KeyProblem): Key | KeyProblem {
  return Buffer.isBuffer(bytes) ? { kind: 'secret', bytes } : bytes
}

const TYPE_NAMES: Record<PublicKeyType, string> = {
  ed25519: 'an Ed25519 public key',
  rsa: 'an RSA public key',
  ec: 'a P-256 public key',
}

/** Reads a pasted public key: PEM, base64 of SPKI DER, or raw (32 bytes for Ed25519, PKCS #1 for RSA). */
function publicKey(text: string, type: PublicKeyType): Key | KeyProblem {
  if (text.includes('PRIVATE KEY'))
    return { problem: 'This is a private key: save the public key that belongs to it.' }
  const key = text.includes('-----BEGIN') ? tryKey(() => createPublicKey(text)) : bareKey(text, type)
  const wanted = `The signing secret must be ${TYPE_NAMES[type]} as PEM, SPKI or raw base64`
  if (key === undefined) return { problem: `${wanted}.` }
  if (key.asymmetricKeyType !== type) return { problem: `${wanted}; this is a key of another kind.` }
  const details = key.asymmetricKeyDetails
  if (type === 'ec' && details?.namedCurve !== 'prime256v1') {
    return { problem: `${wanted}; this one is on another curve.` }
  }
  const bits = details?.modulusLength
  if (type === 'rsa' && bits !== undefined && (bits < RSA_BITS.min || bits > RSA_BITS.max)) {
    return { problem: `An RSA key must have ${RSA_BITS.min} to ${RSA_BITS.max} bits.` }
  }
  return { kind: 'public', key }
}

/** The bytes before the 32 bytes of an Ed25519 key in its SPKI (RFC 8410). */
const ED25519_SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

function bareKey(text: string, type: PublicKeyType): KeyObject | undefined {
  const compact = text.replace(/\s+/g, '')
  const raw = type === 'ed25519' && compact.length === 64 ? decodeHexKey(compact) : undefined
  const der = raw ?? decodeBase64Key(compact)
  if (der === undefined) return undefined
  const spki = type === 'ed25519' && der.length === 32 ? Buffer.concat([ED25519_SPKI_HEAD, der]) : der
  return (
    tryKey(() => createPublicKey({ key: spki, format: 'der', type: 'spki' })) ??
    tryKey(() => createPublicKey({ key: spki, format: 'der', type: 'pkcs1' }))
  )
}

function tryKey(make: () => KeyObject): KeyObject | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
