import { createHash, timingSafeEqual } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { addressOf, presentedKey } from './requestIdentity.ts'

/** Headers by which proxies name the client that they speak for. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'] as const

/**
 * Whether a request may read `/metrics` on the port of the API: with the token, or from this machine without a proxy in
 * between.
 *
 * @param token undefined: no token is accepted
 */
export function mayReadMetrics(request: Request, token: string | undefined): boolean {
  const presented = presentedKey(request)
  if (token !== undefined && presented !== null) return timingSafeEqual(digest(presented), digest(token))
  const address = addressOf(request)
  if (address === null || !ipaddr.isValid(address)) return false
  return (
    ipaddr.process(address).range() === 'loopback' && FORWARDING.every((name) => !request.headers.has(name))
  )
}

const digest = (text: string) => createHash('sha256').update(text).digest()
