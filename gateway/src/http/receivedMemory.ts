/** Shorter pieces are the requests of every day; the engine collects them as it goes. */
const LARGE_PIECE_BYTES_MIN = 16 * 1024
/** A collection takes some 40 ms, so one in this many bytes costs a sender of large bodies little. */
const BYTES_BETWEEN_COLLECTIONS = 32 * 1024 * 1024

let uncollectedBytes = 0

/**
 * Collects the memory of large bodies that were dropped or stored. Each piece that a socket hands over has memory of its own,
 * and the engine lets it grow to a multiple of what is in use before it collects: whoever sends a lot that is refused would
 * take hundreds of megabytes.
 *
 * @param bytes how many have just arrived, and been dealt with
 */
export function countReceived(bytes: number): void {
  if (bytes < LARGE_PIECE_BYTES_MIN) return
  uncollectedBytes += bytes
  if (uncollectedBytes < BYTES_BETWEEN_COLLECTIONS) return
  uncollectedBytes = 0
  Bun.gc(true)
}
