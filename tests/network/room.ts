import type { Asks } from './asks.ts'
import { CROWDED, RESETTING, SPOKEN_FOR } from './floods.ts'
import type { Population } from './population.ts'
import { CALM } from './steps.ts'
import { CONNECTIONS_PER_ADDRESS, PROXY } from './target.ts'

const ADDRESSES = [
  ...[...CALM, ...CROWDED, ...RESETTING].map((from) => ({ from, forwardedFor: undefined })),
  ...SPOKEN_FOR.map((forwardedFor) => ({ from: PROXY, forwardedFor })),
]

/**
 * Uses all connections of one address after the other: as many requests in flight as it may have connections. The model
 * of the connections complains if one is refused, since then an earlier connection still counts.
 *
 * @param settle resolves when every open connection is answered and closed
 */
export async function useAllRoom(
  asks: Asks,
  population: Population,
  settle: () => Promise<void>,
): Promise<void> {
  for (const { from, forwardedFor } of ADDRESSES) {
    const connections = Array.from({ length: CONNECTIONS_PER_ADDRESS }, () => {
      const connection = population.dial(from)
      const ask = asks.held(forwardedFor)
      connection.plan(ask)
      connection.send(ask.bytes.length - 1)
      return connection
    })
    await Promise.all(connections.map(({ connected }) => connected))
    for (const connection of connections) connection.send()
    await settle()
  }
}
