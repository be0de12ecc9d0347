import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Whether a process with this id runs, under any account. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * The command lines of processes whose working directory is in a folder, or whose arguments name it. Linux only; else
 * none.
 */
export function processesIn(folder: string): readonly string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const isThere = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) || command.includes(folder)
      return isThere ? [`${pid} ${command}`] : []
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
