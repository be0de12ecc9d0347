import { creelSignature, SIGNATURE_HEADER } from './creelSignature.ts'
import { type SignedMessage, standardWebhooksFields, standardWebhooksKey } from './standardWebhooks.ts'

/** The ways in which what we send is signed. */
export const SIGNING_SCHEMES = ['creel', 'standard-webhooks'] as const

/** One of {@link SIGNING_SCHEMES}. */
export type SigningScheme = (typeof SIGNING_SCHEMES)[number]

/** How messages to a receiver are signed. */
export interface Signing {
  readonly scheme: SigningScheme
  /** The newest first; empty when nothing is signed. */
  readonly secrets: readonly string[]
}

/** The fields that prove to a receiver that a message is ours: none without a secret. */
export function signatureFields(
  { scheme, secrets }: Signing,
  message: SignedMessage,
): readonly (readonly [name: string, value: string])[] {
  if (secrets.length === 0) return []
  return scheme === 'creel'
    ? [[SIGNATURE_HEADER, creelSignature(message.body, secrets, message.at)]]
    : standardWebhooksFields(message, secrets)
}

/** Says why a secret cannot sign by a scheme; null when it can. The answer never quotes it. */
export function secretProblem(scheme: SigningScheme, secret: string): string | null {
  return scheme === 'creel' || standardWebhooksKey(secret) !== null
    ? null
    : 'Standard Webhooks needs a secret like `whsec_` and the Base64 of 24 to 64 bytes.'
}

/** A stored scheme; one that this build does not know counts as `creel`. */
export function signingSchemeOf(text: string): SigningScheme {
  return SIGNING_SCHEMES.find((scheme) => scheme === text) ?? 'creel'
}
