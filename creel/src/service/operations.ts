import { checkDatabase, type ReplicaState } from '@creel/core'
import { readFlowFigures } from '@creel/core/deliveries'
import {
  breakersOpen,
  flowDeliveries,
  pausedActions,
  queueDepth,
  queueLagSeconds,
  replicaLagBytes,
  replicaLagSeconds,
  storageBytes,
  storageMaxBytes,
} from '@creel/core/platform/metrics'
import { NEARLY_FULL, readStorage } from '@creel/core/retention'
import type { Operations } from '@creel/gateway'
import { checkQueue, readQueueLoad } from '@creel/jobs'
import type { GatewayProcesses } from './options.ts'
import type { OpenServices } from './services.ts'

/** Minimum interval of summing over all endpoints, since `/readyz` is public. */
const STORAGE_EVERY_MS = 5000

/**
 * Readiness and metrics of this process. Database and queue must answer; the figures of queue and storage are read at
 * each scrape.
 */
export function operationsOf(
  {
    services,
    boss,
    hasReplica,
    dispatches,
  }: Pick<OpenServices, 'services' | 'boss' | 'hasReplica' | 'dispatches'>,
  processes?: GatewayProcesses,
): Operations {
  const max = services.storageMaxBytes
  let read: { readonly at: number; readonly total: Promise<number> } | undefined
  const totalBytes = () => {
    if (read === undefined || performance.now() - read.at > STORAGE_EVERY_MS) {
      const total = readStorage(services.db).then((storage) => storage.totalBytes)
      read = { at: performance.now(), total }
    }
    return read.total
  }
  const storageNote = async (bound: number) => {
    const share = (await totalBytes()) / Math.max(1, bound)
    return share < NEARLY_FULL ? 'ok' : `nearly full: ${Math.round(share * 100)} % of CREEL_STORAGE_MAX`
  }
  return {
    checks: {
      ...ownChecks({ services, boss }),
      ...(processes !== undefined && { gateways: () => checkProcesses(processes) }),
    },
    ...(processes !== undefined && { metricsOfProgram: () => processes.metrics() }),
    notes: {
      ...(processes !== undefined && { processes: () => processesNote(processes) }),
      ...(!dispatches && {
        dispatch: () => Promise.resolve('off: deliveries and alerts wait (CREEL_DISPATCH=off)'),
      }),
      ...(max !== null && { storage: () => storageNote(max) }),
      ...(hasReplica && { replica: async () => replicaNote(await services.reads.state()) }),
    },
    async beforeScrape() {
      if (processes?.isFirst === false) return
      storageMaxBytes.set(max ?? 0)
      const [flows, load, total, replica] = await Promise.all([
        readFlowFigures(services.db),
        readQueueLoad(boss),
        totalBytes(),
        services.reads.state(),
      ])
      replicaLagBytes.set(replica === null ? 0 : (replica.lagBytes ?? -1))
      replicaLagSeconds.set(replica === null ? 0 : (replica.lagSeconds ?? -1))
      storageBytes.set(total)
      pausedActions.set(flows.pausedActions)
      breakersOpen.set(flows.breakersOpen)
      for (const [state, deliveries] of Object.entries(flows.deliveries))
        flowDeliveries.set({ state }, deliveries)
      for (const { queue, depth, lagSeconds } of load) {
        queueDepth.set({ queue }, depth)
        queueLagSeconds.set({ queue }, lagSeconds)
      }
    },
  }
}

/** Checks of this process alone: those that another process asks it for. */
export function ownChecks({ services, boss }: Pick<OpenServices, 'services' | 'boss'>): Operations['checks'] {
  return { database: () => checkDatabase(services.db), queue: () => checkQueue(boss) }
}

async function checkProcesses(processes: GatewayProcesses): Promise<void> {
  const { running, unready } = await processes.states()
  if (unready > 0) throw new Error(`${unready} of ${running} gateway processes are not ready`)
}

/** A process that has ended does not make the program unready: the system gives connections to the others. */
async function processesNote({ counts, states }: GatewayProcesses): Promise<string> {
  const { running } = await states()
  return running === counts.processes
    ? 'ok'
    : `${running} of ${counts.processes} run: the others are started again`
}

function replicaNote(state: ReplicaState | null): string {
  if (state?.lagBytes == null) return 'out of reach: lists and searches use the primary'
  if (state.lagBytes === 0) return 'ok'
  return `ok: ${state.lagBytes} bytes and ${state.lagSeconds?.toFixed(1)} s behind`
}
