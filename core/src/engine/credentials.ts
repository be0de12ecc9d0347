import { TOKEN_NAMES } from './providers/index.ts'

/** Placeholder for a secret that was left out. */
export const MASK = '***'

/** Words that make a name a credential's, anywhere in it. */
const SECRET_WORDS =
  /(^|[^a-z])(auth|authorization|authentication|cookie|cookies|token|tokens|secret|secrets|password|passwd|pwd|passphrase|credential|credentials|session|sessionid|apikey|accesskey|privatekey|secretkey|authtoken|accesstoken|refreshtoken|clientsecret)([^a-z]|$)/
const KEY_PAIRS = /(^|[^a-z])(api|access|private|secret|auth)[-_. ]?key([^a-z]|$)/

/**
 * Whether the name of a header or a member is that of a credential: `Authorization`, `X-Api-Key`, `client_secret`,
 * `accessToken`. Signatures are not credentials: they prove what was sent and grant no access. A header in which a
 * provider sends the shared secret instead of a signature is a credential.
 */
export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
  const lower = name.toLowerCase()
  return (
    SECRET_WORDS.test(words) || SECRET_WORDS.test(lower) || KEY_PAIRS.test(words) || TOKEN_NAMES.has(lower)
  )
}
