import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isAlive } from '../creel/src/stopping.ts'

/** Unit of `/proc/<pid>/stat`, on all systems that this runs on. */
export const TICKS_A_SECOND = 100

/** Ends a process with SIGKILL, unless it has ended. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (isAlive(pid)) throw error
  }
}

/**
 * Processes whose working directory is in a folder, or whose arguments name it. Linux only; else none.
 */
export function processesIn(folder: string): readonly { readonly pid: number; readonly command: string }[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!(pid > 0) || pid === process.pid) return []
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const isThere = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) || command.includes(folder)
      return isThere ? [{ pid, command }] : []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

/** Mount points below a folder. Linux only; else none. */
export function mountsIn(folder: string): readonly string[] {
  if (process.platform !== 'linux') return []
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`))
}

/**
 * Parent and processor time of a process: its own, and that of its children that have ended and were waited for. Linux only.
 *
 * @throws the error of the system when it has ended
 */
export function processStat(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may contain spaces.
  const words = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const sum = (from: number) => (words[from] ?? 0) + (words[from + 1] ?? 0)
  return { parent: words[1] ?? 0, ticks: sum(11), endedTicks: sum(13) }
}

/**
 * Processor time, in seconds, of a process and all below it, with their children that have ended and were waited for.
 * Linux only; else 0.
 */
export function processorSecondsBelow(root: number): number {
  if (process.platform !== 'linux') return 0
  const times = new Map<number, { readonly parent: number; readonly ticks: number }>()
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    try {
      const { parent, ticks, endedTicks } = processStat(Number(pid))
      times.set(Number(pid), { parent, ticks: ticks + endedTicks })
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(times.get(pid)?.parent ?? 0))
  let ticks = 0
  for (const [pid, time] of times) if (isBelow(pid)) ticks += time.ticks
  return ticks / TICKS_A_SECOND
}
