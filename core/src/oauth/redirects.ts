/** Longest redirect URI, in characters. */
const REDIRECT_CHARACTERS_MAX = 2_048

/** A host that a header field can hold unchanged. The URL standard permits others, with `;` and `'` in them. */
const PLAIN_HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/

/** A redirect URI of a program on the user's machine, in three parts: host, port, and the rest. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d{1,5})?(\/[^#]*)?$/

/**
 * Whether the service may send a browser to a URI at all: https, or http on a loopback address; without a fragment, a
 * user name and a password; in printable ASCII. The schemes of apps (`cursor:`) and of browsers (`javascript:`) are
 * refused.
 */
export function isRedirectable(uri: string): boolean {
  if (uri.length > REDIRECT_CHARACTERS_MAX || !/^https?:\/\/[!-~]+$/.test(uri) || /[#\\]/.test(uri))
    return false
  const url = URL.parse(uri)
  if (url === null || url.username !== '' || url.password !== '' || !PLAIN_HOST.test(url.hostname))
    return false
  // A bare `@` before the path is userinfo, even an empty one.
  if (/^https?:\/\/[^/?]*@/.test(uri)) return false
  return url.protocol === 'https:' || LOOPBACK.test(uri)
}

/**
 * Whether a redirect URI is one that the client registered: the same text, except for the port of a loopback address,
 * which a program chooses when it starts (RFC 8252 §7.3).
 */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (!isRedirectable(uri)) return false
  const loopback = LOOPBACK.exec(uri)
  return registered.some((one) => {
    if (one === uri) return true
    const other = loopback === null ? null : LOOPBACK.exec(one)
    return loopback !== null && other !== null && loopback[1] === other[1] && loopback[3] === other[3]
  })
}

/** Whether a redirect URI leads to a program on the user's own machine. */
export const isLoopback = (uri: string): boolean => LOOPBACK.test(uri)

/** A redirect URI with parameters of an answer added to its query. Parameters of the same name are replaced. */
export function redirectTo(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}
