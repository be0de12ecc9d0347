import { findProvider } from '../providers/index.ts'
import { type ManualScheme, manualFamily } from './settings.ts'

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
