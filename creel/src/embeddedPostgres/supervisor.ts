import { rm } from 'node:fs/promises'
import { backoffMs } from '@creel/core/platform/time'
import type { Logger } from 'pino'
import type { PostgresHome } from './home.ts'
import { isPostmaster, stopPostmaster } from './postmaster.ts'

const CHECK_MILLISECONDS = 250
const RETRY_MILLISECONDS = { first: CHECK_MILLISECONDS, max: 5000 } as const

interface Supervised {
  readonly pid: number
  readonly home: PostgresHome
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** Restarts it and returns its process number. */
  readonly start: () => Promise<number>
}

/** Watches a postmaster, started or adopted, and restarts it when it dies; meanwhile the service waits. */
export function keepRunning({ pid: firstPid, home, log, start }: Supervised) {
  let pid = firstPid
  let stopping = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let check: Promise<void> = Promise.resolve()

  const schedule = (milliseconds: number, failures: number) => {
    timer = setTimeout(() => {
      check = watch(failures)
    }, milliseconds)
    timer.unref()
  }

  const watch = async (failures: number): Promise<void> => {
    if (stopping) return
    if (await isPostmaster(pid, home.clusterFolder)) return schedule(CHECK_MILLISECONDS, 0)
    log.warn({ pid }, 'the embedded PostgreSQL died: restarting it')
    try {
      pid = await start()
      if (!stopping) schedule(CHECK_MILLISECONDS, 0)
    } catch (error) {
      log.error({ err: error }, 'the embedded PostgreSQL does not start')
      if (!stopping) schedule(backoffMs(RETRY_MILLISECONDS, failures), failures + 1)
    }
  }

  schedule(CHECK_MILLISECONDS, 0)
  return {
    pid: () => pid,
    kill: () => {
      stopping = true
      clearTimeout(timer)
      try {
        process.kill(pid, 'SIGQUIT')
      } catch {
        // Gone already.
      }
    },
    /** Stops watching, lets a pending restart finish, stops the postmaster, and removes its socket's folder. */
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      await check
      await stopPostmaster(pid, home.clusterFolder)
      // It may be outside of the home, where it would be left behind.
      await rm(home.socketFolder, { recursive: true, force: true })
    },
  }
}
