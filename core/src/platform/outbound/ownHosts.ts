import { networkInterfaces } from 'node:os'
import { canonicalAddress, isAddress } from './addresses.ts'
import { hostOf } from './allowList.ts'

/**
 * A host and port of this service: of {base_url}, of {capture_url}, or one that this process listens on. `0.0.0.0` and
 * `::` mean every address of this machine.
 */
export interface OwnHost {
  readonly host: string
  readonly port: number
}

/**
 * True when a destination is this service. Forwards to it would come back as captures, so they are refused whatever the
 * operator allows.
 *
 * @param host from the URL, without brackets
 * @param address to be dialled; null when only the name is known
 */
export function isOwn(own: readonly OwnHost[], host: string, address: string | null, port: number): boolean {
  return own.some((mine) => {
    if (mine.port !== port) return false
    if (hostOf(mine.host) === hostOf(host)) return true
    if (address === null || !isAddress(mine.host)) return false
    const dialled = canonicalAddress(address)
    return mine.host === '0.0.0.0' || mine.host === '::'
      ? isOfThisMachine(dialled)
      : canonicalAddress(mine.host) === dialled
  })
}

/** True for every address of this machine, all of 127.0.0.0/8, and 0.0.0.0. */
function isOfThisMachine(address: string): boolean {
  if (address.startsWith('127.') || address === '0.0.0.0' || address === '::') return true
  for (const cards of Object.values(networkInterfaces()))
    for (const card of cards ?? []) if (canonicalAddress(card.address) === address) return true
  return false
}
