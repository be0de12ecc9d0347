import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathOf } from './fetchAdapter.ts'

/** Answers the request when it was sent to a former host; else leaves it alone and returns false. */
export type FormerHosts = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Sends whoever still calls a former API host to {base_url}: 301 to the same path and query, for every method and
 * path alike (SPEC Versioning 3).
 *
 * @param hosts host names, without case; one without a port stands for all its ports
 * @param baseUrl {base_url}, without a trailing slash
 */
export function formerHosts(hosts: readonly string[], baseUrl: string): FormerHosts {
  const former = new Set(hosts.map((host) => host.toLowerCase()))
  return (request, response) => {
    const host = request.headers.host?.toLowerCase()
    if (host === undefined || !(former.has(host) || former.has(host.replace(/:\d+$/, '')))) return false
    // Answered when the body is over: Bun takes no further request behind an answer that overtook its request.
    request.on('end', () => {
      response.writeHead(301, { Location: baseUrl + pathOf(request.url ?? '/'), 'Content-Length': 0 }).end()
    })
    request.resume()
    return true
  }
}
