import { type ProcessOptions, type RunningProcess, startProcess } from '../support/process.ts'

/** A process that is restarted whenever it ends, as by a service manager. */
export interface KeptProcess {
  /** Undefined while it is down. */
  readonly current: RunningProcess | undefined
  /** Ends it with SIGKILL. Resolves when it is gone; its successor is starting then. */
  kill(): Promise<void>
  /** Resolves with the running process, once there is one. */
  up(): Promise<RunningProcess>
  /** SIGTERM, and no successor. */
  stop(): Promise<void>
}

/** @param words more of the command line of `creel serve` */
export function keepProcess(options: ProcessOptions, words: readonly string[]): KeptProcess {
  let current: RunningProcess | undefined
  let stopped = false
  let starting = start()

  async function start(): Promise<void> {
    while (!stopped) {
      // While Postgres is down a start fails; a service manager retries.
      const started = await startProcess(options, words).catch(() => undefined)
      if (started === undefined) continue
      current = started
      void started.exited.then(() => {
        if (current === started) current = undefined
        if (!stopped) starting = start()
      })
      return
    }
  }

  const up = async (): Promise<RunningProcess> => {
    while (current === undefined) {
      await starting
      await Promise.resolve()
    }
    return current
  }

  return {
    get current() {
      return current
    },
    up,
    async kill() {
      const process = current
      if (process === undefined) return
      process.signal('SIGKILL')
      await process.exited
    },
    async stop() {
      stopped = true
      await starting
      await current?.stop()
    },
  }
}
