/** Where runs of the suite keep their databases and temporary files. */
import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const SHARED_MEMORY = '/dev/shm'
const TMPFS = 0x01021994
/** What a run may come to, several times over. */
const FREE_BYTES_MIN = 4 * 1024 ** 3

/** The folders that {@link quickFolder} may choose from: runs that were killed have left theirs in one of them. */
export const QUICK_FOLDERS: readonly string[] = [...new Set([SHARED_MEMORY, tmpdir()])]

/**
 * Memory, where Linux has room there and lets programs be run from it; else the system's temporary folder, which is also
 * taken when TMPDIR names one. The suite makes and drops hundreds of databases of hundreds of files each: on a disk a
 * third of its time goes to the file system.
 */
export function quickFolder(): string {
  return process.env.TMPDIR === undefined && hasRoomInMemory() ? SHARED_MEMORY : tmpdir()
}

function hasRoomInMemory(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY)
    if (type !== TMPFS || bavail * bsize < FREE_BYTES_MIN) return false
    const available = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1])
    if (!(available * 1024 >= 2 * FREE_BYTES_MIN)) return false
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === SHARED_MEMORY)
    return mount?.[3] !== undefined && !mount[3].split(',').includes('noexec')
  } catch {
    return false
  }
}
