/**
 * Preloaded into the service under test: reports the contents of the process on a Unix socket, after a garbage
 * collection. It does not change the service.
 */
import { heapStats } from 'bun:jsc'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

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
if (unix !== undefined && isService(`${unix}.pid`)) {
  // The program that the service has replaced itself from left this file.
  rmSync(unix, { force: true })
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

/**
 * Whether this is the first process with the variable. Commands inherit it, and are other processes; the service keeps
 * its process id when it replaces itself at its start to set its environment.
 */
function isService(pidPath: string): boolean {
  if (!existsSync(pidPath)) writeFileSync(pidPath, String(process.pid))
  return readFileSync(pidPath, 'utf8') === String(process.pid)
}
