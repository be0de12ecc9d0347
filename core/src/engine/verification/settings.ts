import { findProvider, type ProviderRow, type SchemeRow } from '../providers/index.ts'

/** Algorithms of manual schemes. */
export const SIGNATURE_ALGORITHMS = [
  'sha1',
  'sha256',
  'sha512',
  'rsa-sha256',
  'rsa-sha512',
  'ed25519',
] as const
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number]

/** Encodings of manual schemes. */
export const SIGNATURE_ENCODINGS = ['hex', 'base64', 'base64url'] as const
export type ManualEncoding = (typeof SIGNATURE_ENCODINGS)[number]

/** Defaults of a manual scheme when only its header is set. */
export const MANUAL_DEFAULTS = { algorithm: 'sha256', encoding: 'hex', prefix: '' } as const

/** A scheme that the user described: a signature over the raw body in one header. */
export interface ManualScheme {
  readonly header: string
  readonly algorithm: SignatureAlgorithm
  readonly encoding: ManualEncoding
  readonly prefix: string
}

/**
 * Settings of an endpoint for verification, secrets decrypted. A manual scheme takes precedence over the provider's.
 */
export interface VerificationSettings {
  /** Slug of the catalog. */
  readonly provider: string | null
  readonly signingSecret: string | null
  readonly handshakeToken: string | null
  readonly manual: ManualScheme | null
}

const MANUAL_MACS: Record<SignatureAlgorithm, Pick<SchemeRow, 'mac' | 'hash' | 'key'>> = {
  sha1: { mac: 'hmac', hash: 'sha1', key: { decode: 'utf8' } },
  sha256: { mac: 'hmac', hash: 'sha256', key: { decode: 'utf8' } },
  sha512: { mac: 'hmac', hash: 'sha512', key: { decode: 'utf8' } },
  'rsa-sha256': { mac: 'rsa', hash: 'sha256', key: { decode: 'public-key' } },
  'rsa-sha512': { mac: 'rsa', hash: 'sha512', key: { decode: 'public-key' } },
  ed25519: { mac: 'ed25519', key: { decode: 'public-key' } },
}

/** The family that the API shows for a manual scheme. */
function manualFamily(algorithm: SignatureAlgorithm): 'hmac' | 'rsa' | 'ed25519' {
  const { mac } = MANUAL_MACS[algorithm]
  return mac === 'rsa' || mac === 'ed25519' ? mac : 'hmac'
}

/** A manual scheme as a row like the catalog's, so that one engine checks both. */
export function manualSchemeRow(manual: ManualScheme): SchemeRow {
  return {
    ...MANUAL_MACS[manual.algorithm],
    id: 'manual',
    scheme: 'manual',
    message: '{body}',
    signature: {
      in: 'header',
      name: manual.header,
      // There may be several signatures while a secret is rotated. No encoding contains a comma.
      ...(manual.prefix.includes(',') ? { parse: 'raw' } : { parse: 'list', pairSep: ',' }),
      ...(manual.prefix === '' ? {} : { prefix: manual.prefix }),
      encoding: manual.encoding,
    },
  }
}

/** The schemes by which an endpoint's captures are signed: its own, else those of its provider. */
export function schemeRowsOf(manual: ManualScheme | null, provider: ProviderRow | undefined) {
  return manual === null ? (provider?.schemes ?? []) : [manualSchemeRow(manual)]
}

/** The endpoint's `verification` object in the API. */
export interface VerificationView {
  readonly source: 'none' | 'preset' | 'manual'
  readonly scheme: string | null
  readonly family: string | null
  readonly secretLabel: string | null
  readonly secretSet: boolean
  readonly secretSetAt: Date | null
  readonly handshakeTokenSet: boolean
  readonly handshakeTokenNeeded: boolean
  readonly manual: ManualScheme | null
}

/** The facts of a stored endpoint that the view needs. Instead of secrets, only whether they are set. */
export interface VerificationFacts {
  readonly provider: string | null
  readonly manual: ManualScheme | null
  readonly secretSet: boolean
  readonly secretSetAt: Date | null
  readonly handshakeTokenSet: boolean
}

/** Describes how an endpoint's captures are verified. A provider that does not sign leaves `source` at `none`. */
export function verificationView(facts: VerificationFacts): VerificationView {
  const { provider: slug, ...rest } = facts
  const provider = slug === null ? undefined : findProvider(slug)
  return {
    ...schemeOf(facts.manual, provider?.verification ?? null),
    ...rest,
    handshakeTokenNeeded: provider?.handshakeTokenNeeded ?? false,
  }
}

type SchemeWords = Pick<VerificationView, 'source' | 'scheme' | 'family' | 'secretLabel'>

function schemeOf(manual: ManualScheme | null, preset: Omit<SchemeWords, 'source'> | null): SchemeWords {
  if (manual !== null) {
    const family = manualFamily(manual.algorithm)
    const secretLabel = family === 'hmac' ? 'Signing secret' : 'Public key'
    return { source: 'manual', scheme: 'manual', family, secretLabel }
  }
  if (preset === null) return { source: 'none', scheme: null, family: null, secretLabel: null }
  const { scheme, family, secretLabel } = preset
  return { source: 'preset', scheme, family, secretLabel }
}
