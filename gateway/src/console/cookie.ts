import { SESSION_DAYS, type Urls } from '@creel/core'

/**
 * The name of the cookie. Cookies know no ports: two services on one host must not share a name. `__Host-` binds it to this
 * very host, and wants https.
 */
function cookieName({ baseUrl }: Urls): string {
  const { protocol, port } = new URL(baseUrl)
  return protocol === 'https:' ? '__Host-creel_session' : `creel_session_${port || '80'}`
}

function cookie(urls: Urls, token: string, maxAgeSeconds: number): string {
  const secure = urls.baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(urls)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}

/** `Set-Cookie` that signs in: no script reads it, and no other site's page sends it. */
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
