import {
  MANUAL_DEFAULTS,
  type ManualScheme,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_ENCODINGS,
  type VerificationFacts,
  type VerificationSettings,
} from '../engine/verification/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'

/** The columns of an endpoint for the verification of its captures. */
export interface StoredVerification {
  readonly workspaceId: string
  readonly provider: string | null
  readonly signingSecret: Uint8Array | null
  readonly signingSecretSetAt: Date | null
  readonly handshakeToken: Uint8Array | null
  readonly signatureHeader: string | null
  readonly signatureAlgorithm: string | null
  readonly signatureEncoding: string | null
  readonly signaturePrefix: string | null
}

/**
 * An endpoint's settings with its secrets opened: for evaluating and for checking changes, never for answers.
 *
 * @throws Error when the secrets were sealed with another key
 */
export function storedSettings(row: StoredVerification, secrets: SecretBox): VerificationSettings {
  return {
    provider: row.provider,
    signingSecret: row.signingSecret === null ? null : secrets.open(row.signingSecret, row.workspaceId),
    handshakeToken: row.handshakeToken === null ? null : secrets.open(row.handshakeToken, row.workspaceId),
    manual: manualOf(row),
  }
}

/** The part of an endpoint's settings that may be shown: no secrets. */
export function storedFacts(row: StoredVerification): VerificationFacts {
  return {
    provider: row.provider,
    manual: manualOf(row),
    secretSet: row.signingSecret !== null,
    secretSetAt: row.signingSecretSetAt,
    handshakeTokenSet: row.handshakeToken !== null,
  }
}

/** The manual scheme of a row. Missing members, and values of another version, become the defaults. */
function manualOf(row: StoredVerification): ManualScheme | null {
  if (row.signatureHeader === null) return null
  return {
    header: row.signatureHeader,
    algorithm:
      SIGNATURE_ALGORITHMS.find((name) => name === row.signatureAlgorithm) ?? MANUAL_DEFAULTS.algorithm,
    encoding: SIGNATURE_ENCODINGS.find((name) => name === row.signatureEncoding) ?? MANUAL_DEFAULTS.encoding,
    prefix: row.signaturePrefix ?? MANUAL_DEFAULTS.prefix,
  }
}
