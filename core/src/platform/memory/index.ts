/** Shorter pieces are ordinary requests and answers, which the engine collects in time. */
const LARGE_PIECE_BYTES_MIN = 16 * 1024
/** A collection takes some 40 ms, little compared with moving this many bytes. */
const BYTES_BETWEEN_COLLECTIONS = 32 * 1024 * 1024

let uncollectedBytes = 0

/**
 * Collects the memory of large pieces that were stored, sent or dropped. Each has its own memory outside of the
 * engine's heap, and the engine lets it grow to a multiple of the used memory before it collects. Without this, a
 * client that sends many refused bodies, or requests large files and reads none, would take hundreds of megabytes.
 *
 * @param bytes length of a piece that was just received, made or written to a socket
 */
export function countPiece(bytes: number): void {
  if (bytes < LARGE_PIECE_BYTES_MIN) return
  uncollectedBytes += bytes
  if (uncollectedBytes < BYTES_BETWEEN_COLLECTIONS) return
  uncollectedBytes = 0
  Bun.gc(true)
}

/** Sets an entry of a map as the newest one, and drops the oldest one over the limit. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
