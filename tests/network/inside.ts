/**
 * Preloaded into the service under test: reports the contents of the process on a Unix socket, after a garbage
 * collection. It does not change the service.
 */
import { heapStats } from 'bun:jsc'
import { existsSync } from 'node:fs'

/** Contents of the process. */
export interface InsideReport {
  /** Live objects by the engine's class, such as `Timeout` and `TCPSocket`. */
  readonly objects: Readonly<Record<string, number>>
  readonly heapBytes: number
  readonly residentBytes: number
}

/** Variable that names the path of the socket. */
export const INSIDE = 'CREEL_TEST_INSIDE'

const unix = process.env[INSIDE]
// A command that inherits the variable leaves the socket to the service.
if (unix !== undefined && !existsSync(unix)) {
  Bun.serve({
    unix,
    fetch() {
      Bun.gc(true)
      const { objectTypeCounts, heapSize } = heapStats()
      const report: InsideReport = {
        objects: objectTypeCounts,
        heapBytes: heapSize,
        residentBytes: process.memoryUsage.rss(),
      }
      return Response.json(report)
    },
  }).unref()
}
