/** A connection, as far as it holds memory. */
interface Holding {
  /** What its client has not taken. */
  readonly unsentBytes: number
  terminate(): void
}

/**
 * Hangs up on those who leave most unread, until what waits for all clients together fits: each may stay within its own bounds
 * while together they take all memory.
 *
 * @returns those that were hung up on
 */
export function shedUnsent<Connection extends Holding>(
  connections: Iterable<Connection>,
  bytesMax: number,
): readonly Connection[] {
  let total = 0
  const holding: Connection[] = []
  for (const connection of connections) {
    if (connection.unsentBytes === 0) continue
    total += connection.unsentBytes
    holding.push(connection)
  }
  if (total <= bytesMax) return []
  const shed: Connection[] = []
  for (const connection of holding.sort((left, right) => right.unsentBytes - left.unsentBytes)) {
    if (total <= bytesMax) break
    total -= connection.unsentBytes
    shed.push(connection)
    connection.terminate()
  }
  return shed
}
