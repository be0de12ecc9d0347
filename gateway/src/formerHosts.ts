import { OWN_ANSWER_HEADERS } from '@creel/core/endpoints'
import { ReadyAnswer } from './http/readyAnswer.ts'
import { asciiPathOf, type RequestHead } from './http/requestHead.ts'

/** The answer to a request that was sent to a former host; undefined for all others. */
export type FormerHosts = (head: Pick<RequestHead, 'host' | 'target'>) => ReadyAnswer | undefined

/**
 * Redirects requests that are sent to a former API host to {base_url}: 301 to the same path and query, for every method
 * and path.
 *
 * @param hosts host names, case-insensitive; one without a port matches every port
 * @param baseUrl {base_url}, without a trailing slash
 */
export function formerHosts(hosts: readonly string[], baseUrl: string): FormerHosts {
  const former = new Set(hosts.map((host) => host.toLowerCase()))
  return ({ host: sent, target }) => {
    if (former.size === 0 || sent === undefined) return undefined
    const host = sent.toLowerCase()
    if (!former.has(host) && !former.has(host.replace(/:\d+$/, ''))) return undefined
    const location = baseUrl + asciiPathOf(target)
    return new ReadyAnswer(
      301,
      ['Location', location, ...OWN_ANSWER_HEADERS.flat(), 'Content-Length', '0'],
      '',
    )
  }
}
