/** The folder for databases and temporary files of runs of the suite. */
import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const SHARED_MEMORY = '/dev/shm'
const TMPFS = 0x01021994
/** Several times the size of a run. */
const FREE_BYTES_MIN = 4 * 1024 ** 3

/** The choices of {@link quickFolder}. Killed runs have left their folders in one of them. */
export const QUICK_FOLDERS: readonly string[] = [...new Set([SHARED_MEMORY, tmpdir()])]

/**
 * Memory, if Linux has room there and permits running programs from it; else, or if TMPDIR is set, the temporary
 * folder. The suite makes and drops hundreds of databases of hundreds of files each: on a disk the file system takes a
 * third of its time.
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
