import { applyChangedPlans, type Services, startLoops, type Urls } from '@creel/core'
import { type Captures, createCaptures, type WaitingAnswers } from '@creel/core/capture'
import type { FirstAttempts } from '@creel/core/deliveries'
import type { OwnHost } from '@creel/core/platform/outbound'
import { within } from '@creel/core/platform/time'
import { type RunningWorkers, startWorkers } from '@creel/jobs'
import type { ServiceOptions } from './options.ts'
import { type OpenServices, openServices } from './services.ts'

/** Time for connections to end. A database that hangs ends none, and the process must not wait for it. */
const CLOSE_MS = 5_000

/** A database with what runs on it in this process: captures, workers, or both, depending on the parts. */
export interface RunningCell {
  readonly opened: OpenServices
  readonly services: Services
  /** Undefined without the gateway. */
  readonly captures: Captures | undefined
  /** Takes jobs from now on. Until then, deliveries wait in the queue. */
  startWorkers(): Promise<void>
  /** Takes no more jobs, and lets sends in flight end, up to `graceMs`. */
  stopWorkers(graceMs: number): Promise<void>
  /** Commits the waiting captures, and closes everything but the database. Jobs may end for `graceMs`; 5 s later it gives up. */
  close(graceMs: number): Promise<void>
}

/**
 * Opens the services of a database, and its captures if the process is a gateway.
 *
 * @param listensOn this process's own address: forwards to it are loops
 * @param waitingAnswers counts the answers to senders that wait, for all databases of the process
 * @throws StartupError when the secret key or the name of the cell does not match the database
 */
export async function runCell(
  options: ServiceOptions,
  urls: Urls,
  { listensOn, waitingAnswers }: { listensOn: OwnHost | undefined; waitingAnswers: WaitingAnswers },
): Promise<RunningCell> {
  const opened = await openServices(options, urls, listensOn)
  let workers: RunningWorkers | undefined
  const firstAttempts: FirstAttempts = {
    hold: (lane, bytes) => workers?.firstAttempts.hold(lane, bytes),
  }
  const captures = options.parts.has('gateway')
    ? createCaptures(opened.services, options.database.pool, { firstAttempts, waitingAnswers })
    : undefined
  if (captures !== undefined) opened.takeCaptures(captures)
  const loops = await startLoops(opened.services, 'process')
  const closeAll = async (graceMs: number) => {
    await captures?.close()
    await opened.boss.stop({ graceful: true, timeout: graceMs })
    await loops.stop(graceMs)
    await opened.close()
  }
  // The timeout of the queue's end is one of jobs only: it then waits for queries without an answer.
  const close = async (graceMs: number) => void (await within(closeAll(graceMs), graceMs + CLOSE_MS))
  try {
    await applyChangedPlans(opened.services)
  } catch (error) {
    await close(0)
    throw error
  }
  return {
    opened,
    services: opened.services,
    captures,
    async startWorkers() {
      if (!options.parts.has('jobs')) return
      workers = await startWorkers(opened.boss, opened.services, {
        dispatches: opened.dispatches,
        processes: options.processes?.counts.processes ?? 1,
      })
    },
    stopWorkers: async (graceMs) => workers?.stop(graceMs),
    close,
  }
}
