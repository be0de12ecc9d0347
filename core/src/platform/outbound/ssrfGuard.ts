import { lookup } from 'node:dns/promises'
import { isAddress, refusalOf } from './addresses.ts'
import { type AllowList, hostOf, isAllowed } from './allowList.ts'
import { isOwn, type OwnHost } from './ownHosts.ts'

/** Turns a host name into its addresses. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The system's resolver, hosts file included. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** The SSRF guard: decides which addresses may be dialled. */
export interface SsrfGuard {
  /** Whether no address may be dialled at all. */
  readonly isClosed?: boolean
  readonly allow: AllowList
  readonly ownHosts: () => readonly OwnHost[]
  readonly resolve: Resolve
  /** Whether a refusal names the setting that lifts it. Only for callers who are the operator. */
  readonly namesSetting?: boolean
}

/** The addresses of a host that may be dialled, or the reason why there is none. */
export type Passage =
  | { readonly addresses: readonly [string, ...string[]] }
  | { readonly refused: 'dns' | 'blocked_address' | 'loop'; readonly detail: string }

/**
 * Resolves a host and filters its addresses to those that may be dialled. Called for every connection: an earlier
 * look-up proves nothing (DNS rebinding), so the caller must dial an address of this result.
 *
 * @param host a name, or an address without brackets
 */
export async function findPassage(guard: SsrfGuard, host: string, port: number): Promise<Passage> {
  if (guard.isClosed === true)
    return { refused: 'blocked_address', detail: 'this service sends nothing to other servers' }
  const own = guard.ownHosts()
  if (isOwn(own, host, null, port)) return loop(host, port)
  let found: readonly string[]
  if (isAddress(host)) found = [host]
  else {
    try {
      // Without the root's dot: all resolvers know `localhost`, but not all know `localhost.`
      found = await guard.resolve(hostOf(host))
    } catch {
      found = []
    }
    if (found.length === 0) return { refused: 'dns', detail: `${host} does not resolve` }
  }
  // One own address among several is enough to refuse, since any of them may be reached.
  if (found.some((address) => isOwn(own, host, address, port))) return loop(host, port)
  let reason = ''
  const addresses: string[] = []
  for (const address of found) {
    const refusal = isAllowed(guard.allow, host, address) ? null : refusalOf(address)
    if (refusal === null) addresses.push(address)
    else reason ||= refusal
  }
  const [first, ...others] = addresses
  return first === undefined
    ? { refused: 'blocked_address', detail: `${host} leads to ${reason}${hintOf(guard)}` }
    : { addresses: [first, ...others] }
}

function hintOf({ namesSetting = false }: SsrfGuard): string {
  return namesSetting ? '; CREEL_ALLOW_DESTINATIONS allows it' : ''
}

function loop(host: string, port: number): Passage {
  return { refused: 'loop', detail: `${host}:${port} is this service itself` }
}
