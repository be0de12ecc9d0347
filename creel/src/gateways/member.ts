import { metricsOfProcess } from '@creel/core/platform/metrics'
import { within } from '@creel/core/platform/time'
import { createCountsMember } from '@creel/gateway'
import type { GatewayProcesses, ProcessStates, RunningService } from '../service/index.ts'
import { StartupError } from '../startupError.ts'
import {
  answerOrNull,
  type FromMember,
  isMessage,
  type MemberSettings,
  Questions,
  type ToMember,
} from './childProcess.ts'

/** Longer than the first process waits for the others. */
const ANSWER_MS = 4000
/** Longest wait for the last message of this process to be taken. */
const LAST_MESSAGE_MS = 1000

/** A further gateway process, connected to the first one. */
export interface Membership {
  readonly settings: MemberSettings
  readonly processes: GatewayProcesses
  /** Resolves when the first process asks this one to stop, or has ended, with the reason. */
  readonly stopAsked: Promise<string>
  /** Answers for this service from now on, and tells the first process that it is ready. */
  serve(service: RunningService): void
  /** Sends the last counts of this process. */
  leave(): Promise<void>
}

/**
 * Connects this process to the first one, which has started it, and waits until that knows port and database.
 *
 * @throws StartupError when the process was started by hand
 */
export async function joinFirstProcess(): Promise<Membership> {
  if (process.send === undefined) {
    throw new StartupError('A further gateway process is started by `creel serve --gateways <number>` only.')
  }
  const send = (message: FromMember) => {
    // The channel is gone with the first process; this one then stops.
    if (process.connected === true) process.send?.(message)
  }
  const started = Promise.withResolvers<MemberSettings>()
  const stopAsked = Promise.withResolvers<string>()
  const metrics = new Questions<string>((id) => send({ kind: 'ask', id, about: 'metrics' }), ANSWER_MS)
  const states = new Questions<ProcessStates>((id) => send({ kind: 'ask', id, about: 'states' }), ANSWER_MS)
  let counts: ReturnType<typeof createCountsMember> | undefined
  let service: RunningService | undefined

  const answer = async (id: number, about: 'metrics' | 'readiness') => {
    if (about === 'metrics') send({ kind: 'metrics', id, answer: await answerOrNull(metricsOfProcess) })
    else send({ kind: 'readiness', id, answer: (await service?.isReady()) ?? false })
  }
  process.on('message', (message: unknown) => {
    if (!isMessage<ToMember>(message)) return
    switch (message.kind) {
      case 'start':
        return started.resolve(message.settings)
      case 'stop':
        return stopAsked.resolve('the first process stops')
      case 'totals':
        return counts?.take(message.totals)
      case 'ask':
        return void answer(message.id, message.about)
      case 'metrics':
        return metrics.take(message.id, message.answer)
      case 'states':
        return states.take(message.id, message.answer)
    }
  })
  process.on('disconnect', () => {
    stopAsked.resolve('the first process is gone')
    started.reject(new StartupError('The first process has ended before this one could start.'))
    metrics.end()
    states.end()
  })
  send({ kind: 'loaded' })

  const settings = await started.promise
  counts = createCountsMember(settings.processes, (reports) => send({ kind: 'reports', reports }))
  return {
    settings,
    processes: {
      counts,
      isFirst: false,
      metrics: () => metrics.ask(),
      states: () => states.ask(),
    },
    stopAsked: stopAsked.promise,
    serve(running) {
      service = running
      send({ kind: 'ready' })
    },
    async leave() {
      if (process.connected !== true) return
      const last: FromMember = { kind: 'ended', metrics: await metricsOfProcess() }
      await within(
        new Promise<void>((resolve) => {
          process.send?.(last, undefined, undefined, () => resolve())
        }),
        LAST_MESSAGE_MS,
      )
    },
  }
}
