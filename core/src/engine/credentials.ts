/** What stands where a secret was left out. */
export const MASK = '***'

/** Words that make a name a credential's, wherever they stand in it. */
const SECRET_WORDS =
  /(^|[^a-z])(auth|authorization|authentication|cookie|cookies|token|tokens|secret|secrets|password|passwd|passphrase|credential|credentials|session|sessionid|apikey|accesskey|privatekey|secretkey|authtoken|accesstoken|refreshtoken|clientsecret)([^a-z]|$)/
const KEY_PAIRS = /(^|[^a-z])(api|access|private|secret|auth)[-_. ]?key([^a-z]|$)/

/**
 * Whether a header or a member is called like something that opens doors: `Authorization`, `X-Api-Key`, `client_secret`,
 * `accessToken`. Signatures are none: they prove what was sent, and open nothing.
 */
export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
  return SECRET_WORDS.test(words) || SECRET_WORDS.test(name.toLowerCase()) || KEY_PAIRS.test(words)
}
