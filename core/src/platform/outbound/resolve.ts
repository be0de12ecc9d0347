import { lookup } from 'node:dns/promises'
import { within } from '../time/index.ts'
import { Turns } from '../turns/index.ts'

/** Turns a host name into its addresses. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Time after which the C library is asked, too. */
const PATIENCE_MS = 1_500
/** Time for which a look-up waits for its turn at the C library. Its caller has given up by then. */
const TURN_MS = 5_000

const addressesOf = (found: readonly { readonly address: string }[]): readonly string[] => {
  if (found.length === 0) throw new Error('The name has no address.')
  return found.map(({ address }) => address)
}

/** Asks the hosts file and the name servers that the system had at the start. Holds no thread while it waits. */
async function askServers(host: string): Promise<readonly string[]> {
  return addressesOf(await Bun.dns.lookup(host, { backend: 'c-ares' }))
}

/** Look-ups by the C library: one at a time, and names take turns, so that one that is never answered delays others once. */
const lookUps = new Turns({ atOnce: 1, inAll: 1, wait: { msMax: TURN_MS, noun: 'names' } })

/** Asks the C library. */
async function askSystem(host: string): Promise<readonly string[]> {
  return addressesOf(await lookUps.run(host, () => lookup(host, { all: true })))
}

/**
 * The system's resolver, hosts file included. The name servers are asked for any number of names at once, so that names
 * whose servers never answer hold up no others. The C library knows other sources, and name servers that have changed
 * since the start, but each of its look-ups holds a thread, and a process has few of them. So it is asked only where the
 * first way finds nothing, or nothing soon, and for one name at a time.
 */
export const systemResolve: Resolve = async (host) => {
  const asked = askServers(host)
  const soon = await within(
    asked.catch(() => null),
    PATIENCE_MS,
  )
  if (soon === undefined) return await Promise.any([asked, askSystem(host)])
  return soon ?? (await askSystem(host))
}
