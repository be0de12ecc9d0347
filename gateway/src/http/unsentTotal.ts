/** A connection and the memory that it holds. */
interface Holding {
  /** Bytes that its client has not taken. */
  readonly unsentBytes: number
  terminate(): void
}

/** Bytes that the clients of all connections have not taken. */
export function unsentTotal(connections: Iterable<Pick<Holding, 'unsentBytes'>>): number {
  let total = 0
  for (const { unsentBytes } of connections) total += unsentBytes
  return total
}

/**
 * Terminates the connections with the most unread bytes until the total fits. Each may stay within its own limit while
 * together they would take all memory.
 *
 * @returns the terminated connections
 */
export function shedUnsent<Connection extends Holding>(
  connections: Iterable<Connection>,
  bytesMax: number,
): readonly Connection[] {
  let total = unsentTotal(connections)
  if (total <= bytesMax) return []
  const shed: Connection[] = []
  for (const connection of [...connections].sort((left, right) => right.unsentBytes - left.unsentBytes)) {
    if (total <= bytesMax) break
    total -= connection.unsentBytes
    shed.push(connection)
    connection.terminate()
  }
  return shed
}
