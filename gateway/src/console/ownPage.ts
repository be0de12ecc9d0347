import type { Urls } from '@creel/core'

/**
 * Whether a page of ours makes this call: a cookie counts for nothing else. SameSite does not look at ports, so a page of
 * another program on this host would pass it; browsers say where a call comes from (`Sec-Fetch-Site`). They do not over
 * plain http from another machine: there what changes something must name our origin, and a GET only reads.
 */
export function isOwnPage({ baseUrl }: Urls, request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  if (origin === null) return request.method === 'GET'
  if (origin === new URL(baseUrl).origin) return true
  // By another name of this machine: the page is of whoever it calls. A page from elsewhere has no cookie for that name.
  return URL.canParse(origin) && new URL(origin).host === request.headers.get('host')
}

/** Whether the body is JSON, which no form of another page can send. */
export function isJson(request: Request): boolean {
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  return mediaType === 'application/json'
}
