import type { Urls } from '@creel/core'

/**
 * Whether our own page makes this call. A cookie counts for no other. SameSite ignores ports, so the page of another
 * program on this host would pass it; `Sec-Fetch-Site` tells them apart. Browsers do not send that header over plain
 * http from another machine. There, a call that changes something must have our origin; a GET only reads.
 */
export function isOwnPage({ baseUrl }: Urls, request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  if (origin === null) return request.method === 'GET'
  if (origin === new URL(baseUrl).origin) return true
  // Another name of this machine, used by the page and the call alike. A page from elsewhere has no cookie for that
  // name.
  return URL.canParse(origin) && new URL(origin).host === request.headers.get('host')
}

/** Whether the body is JSON, which no form of another page can send. */
export function isJson(request: Request): boolean {
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  return mediaType === 'application/json'
}
