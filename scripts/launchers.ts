import { readFileSync } from 'node:fs'
import { packageManager } from '../package.json' with { type: 'json' }

const CHECK_MILLISECONDS = 250

/** Command lines of launchers: `npm exec bun@… run start`, the `sh -c` below it, and the `bun run start` below that. */
const LAUNCHER = /^(npm exec|npx|node .*npx|(\/\S*\/)?sh -c|(\/\S*\/)?bun(\.exe)?) .*\brun\b/

const NPX = /^(npm exec|npx|node .*npx) /

/** `bun run creel`, as a user of this checkout types it: by npx, if npx launched this process. */
export const checkoutCommand = (): string =>
  findLaunchers().some(({ command }) => NPX.test(command))
    ? `npx -y ${packageManager} run creel`
    : 'bun run creel'

/**
 * Resolves when a program that only waits for this process has died. npx passes a signal to its shell, which does not
 * pass it on. Without this, `kill` of the npx that started the service would leave the service running. Programs
 * further up (a terminal, nohup, a supervisor) may start and end.
 */
export function whenLauncherDies(): Promise<string> {
  const launchers = findLaunchers().map(({ pid }) => pid)
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const dead = launchers.find((pid) => !isRunning(pid))
      if (dead === undefined) return
      clearInterval(timer)
      resolve(`the process that started us (${dead}) is gone`)
    }, CHECK_MILLISECONDS)
    timer.unref()
  })
}

function findLaunchers(): { pid: number; command: string }[] {
  const launchers: { pid: number; command: string }[] = []
  for (let pid = process.ppid; pid > 1; ) {
    const { command, parent } = look(pid)
    if (!LAUNCHER.test(command)) break
    launchers.push({ pid, command })
    pid = parent
  }
  return launchers
}

function look(pid: number): { command: string; parent: number } {
  if (process.platform === 'linux') {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return { command, parent: Number(statOf(pid)[1]) }
    } catch {
      // The process is not ours to watch, or has already ended.
      return { command: '', parent: 0 }
    }
  }
  const listed = Bun.spawnSync(['/bin/ps', '-p', String(pid), '-o', 'ppid=,command='])
    .stdout.toString()
    .trim()
  const [parent = '0', ...command] = listed.split(/\s+/)
  return { command: `${command.join(' ')} `, parent: Number(parent) }
}

/**
 * Whether a file of /proc is missing because its process has ended. Other errors, such as no free descriptor, do not
 * count.
 */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')

/** State, parent and further fields of a process, from after its name, which may contain spaces and brackets. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return !isGone(error)
  }
  if (process.platform !== 'linux') return true
  try {
    return statOf(pid)[0] !== 'Z'
  } catch (error) {
    return !isGone(error)
  }
}
