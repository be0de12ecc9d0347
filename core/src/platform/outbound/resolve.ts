import { lookup } from 'node:dns/promises'
import { within } from '../time/index.ts'

/** Turns a host name into its addresses. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Time after which the C library is asked besides the name servers. */
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

interface SystemLookUp {
  readonly result: Promise<readonly string[]>
  wantedUntilMs: number
}

/** Look-ups by the C library, under way or waiting, by name. */
const lookUps = new Map<string, SystemLookUp>()
let last: Promise<unknown> = Promise.resolve()

/** Asks the C library, for one name at a time. */
function askSystem(host: string): Promise<readonly string[]> {
  const known = lookUps.get(host)
  const wantedUntilMs = performance.now() + TURN_MS
  if (known !== undefined) {
    known.wantedUntilMs = wantedUntilMs
    return known.result
  }
  const result = last
    .then(async () => {
      if (performance.now() > lookUp.wantedUntilMs) throw new Error('Earlier names took too long.')
      return addressesOf(await lookup(host, { all: true }))
    })
    .finally(() => lookUps.delete(host))
  const lookUp: SystemLookUp = { result, wantedUntilMs }
  lookUps.set(host, lookUp)
  last = result.catch(() => undefined)
  return result
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
