import { SESSION_DAYS, type Urls } from '@creel/core'

/**
 * The name of the cookie. Cookies ignore ports, so two services on one host need different names. `__Host-` binds the
 * cookie to this exact host and requires https.
 */
function cookieName({ baseUrl }: Urls): string {
  const { protocol, port } = new URL(baseUrl)
  return protocol === 'https:' ? '__Host-creel_session' : `creel_session_${port || '80'}`
}

function cookie(urls: Urls, token: string, maxAgeSeconds: number): string {
  const secure = urls.baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(urls)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}

/** `Set-Cookie` that signs in. Scripts cannot read the cookie, and pages of other sites cannot send it. */
export function sessionCookie(urls: Urls, token: string): string {
  return cookie(urls, token, SESSION_DAYS * 86_400)
}

/** `Set-Cookie` that signs out. */
export function expiredCookie(urls: Urls): string {
  return cookie(urls, '', 0)
}

/** The token that the browser sent, or null. */
export function presentedSession(urls: Urls, request: Request): string | null {
  const name = cookieName(urls)
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=')
    if (part.slice(0, at).trim() === name) return part.slice(at + 1).trim() || null
  }
  return null
}
