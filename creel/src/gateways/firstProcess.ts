import {
  lastingMetrics,
  metricsOfProcess,
  type ProcessMetrics,
  sumOfMetrics,
} from '@creel/core/platform/metrics'
import { backoffMs } from '@creel/core/platform/time'
import { CountsHub, createCountsMember, gatewayRestarts } from '@creel/gateway'
import type { Environment } from '@creel/terminal/tools'
import type { Logger } from 'pino'
import type { GatewayProcesses, ProcessStates, RunningService } from '../service/index.ts'
import { servingEnvironment } from '../servingEnvironment.ts'
import { StartupError } from '../startupError.ts'
import { answerOrNull, ChildProcess, type FromMember, type MemberSettings } from './childProcess.ts'

/** Pause before a process that has ended is started again. It doubles while new ones end soon, too. */
const RESTART_MS = { first: 100, max: 30_000 } as const
/** A process that ran so long ended for another reason than the one before. */
const LASTING_MS = 60_000
/** Longer than a process drains. */
const STOP_MS = 25_000

/** Options of the first of several gateway processes. */
export interface FirstProcessOptions {
  readonly processes: number
  /** Command that starts a further one. */
  readonly words: readonly string[]
  readonly env: Environment
  readonly log: Pick<Logger, 'info' | 'error'>
}

/** The first gateway process of a program, and its supervision of the others. */
export interface FirstProcess extends GatewayProcesses {
  /**
   * Lets the others serve, and starts each again that ends. Resolves when all are ready.
   *
   * @param own the service of this process
   * @throws StartupError when one ends before it is ready
   */
  open(settings: Omit<MemberSettings, 'processes'>, own: RunningService): Promise<void>
  /** Drains the others, and waits until they have ended. */
  stop(): Promise<void>
  /** Ends the others at once. */
  abandon(): void
}

/** Starts the further gateway processes. They load the program at once, and wait for {@link FirstProcess.open}. */
export function startProcesses({ processes, words, env, log }: FirstProcessOptions): FirstProcess {
  const hub = new CountsHub({ processes })
  const own = hub.join((totals) => counts.take(totals))
  const counts = createCountsMember(processes, (reports) => own.take(reports))
  const children = new Set<ChildProcess>()
  const restarts = new Set<ReturnType<typeof setTimeout>>()
  const allReady = Promise.withResolvers<void>()
  // A start that fails earlier for another reason never asks for it.
  allReady.promise.catch(() => {})
  let opened: { readonly settings: MemberSettings; readonly service: RunningService } | undefined
  let hasStarted = false
  let isStopping = false
  let ofEnded: Promise<ProcessMetrics> = Promise.resolve([])

  const noteReady = () => {
    if ([...children].filter(({ isReady }) => isReady).length < processes - 1) return
    hasStarted = true
    allReady.resolve()
  }

  const start = (failures: number) => {
    const onMessage = (message: FromMember) => {
      switch (message.kind) {
        case 'loaded':
          if (opened !== undefined) child.send({ kind: 'start', settings: opened.settings })
          break
        case 'ready':
          child.isReady = true
          noteReady()
          break
        case 'reports':
          counted.take(message.reports)
          break
        case 'ask':
          void answer(child, message)
          break
        case 'ended':
          child.lastMetrics = message.metrics
          break
      }
    }
    const onEnded = (how: number | string) => {
      counted.leave()
      children.delete(child)
      const last = child.lastMetrics
      ofEnded = ofEnded.then((before) => sumOfMetrics([before, lastingMetrics(last)]).getMetricsAsJSON())
      if (isStopping) return
      if (!hasStarted) {
        return allReady.reject(
          new StartupError(`A gateway process ended (${how}) before it was ready: the log says why.`),
        )
      }
      const isSoon = performance.now() - child.startedAt < LASTING_MS
      restart({ pid: child.pid, how, isSoon }, failures)
    }
    const child = new ChildProcess(words, servingEnvironment(env), { onMessage, onEnded })
    const counted = hub.join((totals) => child.send({ kind: 'totals', totals }))
    children.add(child)
  }

  const restart = (
    { isSoon, ...ended }: { pid?: number; how: number | string; isSoon: boolean },
    failures: number,
  ) => {
    const wait = isSoon ? backoffMs(RESTART_MS, failures) : RESTART_MS.first
    log.error({ ...ended, restartMs: wait }, 'a gateway process ended: it is started again')
    const timer = setTimeout(() => {
      restarts.delete(timer)
      gatewayRestarts.inc()
      const next = isSoon ? failures + 1 : 0
      try {
        start(next)
      } catch (error) {
        // The system has no process left now, or the program's file is being replaced.
        restart({ how: error instanceof Error ? error.message : String(error), isSoon: true }, next)
      }
    }, wait)
    restarts.add(timer)
  }

  const answer = async (child: ChildProcess, { id, about }: Extract<FromMember, { kind: 'ask' }>) => {
    if (about === 'states') return child.send({ kind: 'states', id, answer: await answerOrNull(states) })
    await opened?.service.readFigures()
    child.send({ kind: 'metrics', id, answer: await answerOrNull(metrics) })
  }

  const ready = () => [...children].filter(({ isReady }) => isReady)

  const metricsOf = async (child: ChildProcess): Promise<ProcessMetrics> => {
    try {
      child.lastMetrics = await child.metrics.ask()
      return child.lastMetrics
    } catch (error) {
      // It counts among the ended ones.
      if (child.hasEnded) return []
      throw error
    }
  }

  const metrics = async () => {
    const [mine, ...others] = await Promise.all([metricsOfProcess(), ...ready().map(metricsOf)])
    return await sumOfMetrics([mine, ...others, await ofEnded]).metrics()
  }

  const states = async (): Promise<ProcessStates> => {
    const running = ready()
    const isReady = await Promise.all([
      opened?.service.isReady() ?? false,
      ...running.map((child) => child.readiness.ask().catch(() => child.hasEnded)),
    ])
    return { running: running.length + 1, unready: isReady.filter((one) => !one).length }
  }

  for (let at = 1; at < processes; at += 1) start(0)
  return {
    counts,
    isFirst: true,
    metrics,
    states,
    async open(settings, service) {
      opened = { settings: { ...settings, processes }, service }
      for (const child of children) child.send({ kind: 'start', settings: opened.settings })
      await allReady.promise
      log.info({ pids: [...children].map(({ pid }) => pid) }, 'further gateway processes are ready')
    },
    async stop() {
      isStopping = true
      for (const timer of restarts) clearTimeout(timer)
      for (const child of children) child.send({ kind: 'stop' })
      const late = setTimeout(() => {
        for (const child of children) child.kill()
      }, STOP_MS)
      await Promise.all([...children].map(({ exited }) => exited))
      clearTimeout(late)
      hub.close()
    },
    abandon() {
      isStopping = true
      for (const timer of restarts) clearTimeout(timer)
      for (const child of children) child.kill()
    },
  }
}
