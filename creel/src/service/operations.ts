import { checkDatabase, type ReplicaState, readSendLoad } from '@creel/core'
import { type CellPlace, cellUp } from '@creel/core/cells'
import { breakersOpen, flowDeliveries, pausedActions, readFlowFigures } from '@creel/core/deliveries'
import { sendLagSeconds, sendsWaiting } from '@creel/core/dispatch'
import { queueDepth, queueLagSeconds, replicaLagBytes, replicaLagSeconds } from '@creel/core/platform/metrics'
import { NEARLY_FULL, readStorage, storageBytes, storageMaxBytes } from '@creel/core/retention'
import type { Operations } from '@creel/gateway'
import { checkQueue, readQueueLoad } from '@creel/jobs'
import type { GatewayProcesses } from './options.ts'
import type { RunningCell } from './runningCell.ts'
import type { OpenServices } from './services.ts'

/** Minimum interval of summing over endpoints or queues, since `/readyz` is public. */
const READ_EVERY_MS = 5000

/** Time for which jobs may be due, as in the alert rules for Prometheus. */
const LATE_SECONDS = 120

/** Time after which the connection of a read counts as lost. A session of the service ends a statement within it. */
const PENDING_MS = 65_000

/**
 * Lets callers join a read that is under way, since `/readyz` is public: it holds one connection, however many ask.
 *
 * @param keptMs how long callers get its result after it began
 */
function shared<Value>(read: () => Promise<Value>, keptMs = 0): () => Promise<Value> {
  let last: { readonly at: number; readonly value: Promise<Value>; isPending: boolean } | undefined
  return () => {
    const now = performance.now()
    if (last !== undefined && now - last.at < (last.isPending ? PENDING_MS : keptMs)) return last.value
    const begun = { at: now, value: read(), isPending: true }
    const end = () => {
      begun.isPending = false
    }
    begun.value.then(end, end)
    last = begun
    return begun.value
  }
}

export interface OperationsOptions {
  readonly processes?: GatewayProcesses | undefined
  /** Undefined in an installation without cells. */
  readonly cells?: CellStates | undefined
}

/**
 * Readiness and metrics of this process. Database and queue must answer; of several cells, one. The figures of queue and
 * storage are read at each scrape. Figures of queues are added up over the cells that are reached; storage, which is limited
 * in each cell, is that of the fullest.
 *
 * @param running what runs in the process, the home first; cells may join
 */
export function operationsOf(
  running: readonly [RunningCell, ...RunningCell[]],
  { processes, cells }: OperationsOptions,
): Operations {
  const [{ opened: home }] = running
  const { services, hasReplica, dispatches } = home
  const max = services.storageMaxBytes
  // One that is out of reach would delay the figures of the others until they are given up.
  const reached = () =>
    running.filter(({ services: { cell } }) => cell === null || cells?.all().get(cell.name) === 'ok')
  const mostBytes = shared(async () => {
    const all = await Promise.all(reached().map((cell) => readStorage(cell.services.db)))
    return Math.max(0, ...all.map(({ totalBytes }) => totalBytes))
  }, READ_EVERY_MS)
  const jobsNote = shared(async () => {
    const loads = await Promise.all(reached().map(({ opened }) => readQueueLoad(opened.boss)))
    const late = Math.max(0, ...loads.flat().map(({ lagSeconds }) => lagSeconds))
    return late < LATE_SECONDS ? 'ok' : `late: due for ${Math.round(late)} s`
  }, READ_EVERY_MS)
  const storageNote = async (bound: number) => {
    const share = (await mostBytes()) / Math.max(1, bound)
    return share < NEARLY_FULL ? 'ok' : `nearly full: ${Math.round(share * 100)} % of CREEL_STORAGE_MAX`
  }
  return {
    stopping: services.stopping,
    checks: {
      ...(cells === undefined ? databaseChecks(home) : { cells: () => checkCells(cells) }),
      ...(processes !== undefined && { gateways: () => checkProcesses(processes) }),
    },
    ...(processes !== undefined && { metricsOfProgram: () => processes.metrics() }),
    notes: {
      jobs: jobsNote,
      ...(processes !== undefined && { processes: () => processesNote(processes) }),
      ...(!dispatches && {
        dispatch: () => Promise.resolve('off: deliveries and alerts wait (CREEL_DISPATCH=off)'),
      }),
      ...(cells !== undefined && notesOf(cells)),
      ...(max !== null && { storage: () => storageNote(max) }),
      ...(hasReplica && { replica: shared(async () => replicaNote(await services.reads.state())) }),
    },
    async beforeScrape() {
      if (processes?.isFirst === false) return
      storageMaxBytes.set(max ?? 0)
      const present = reached()
      const [most, replica, ...settled] = await Promise.all([
        mostBytes().catch(() => undefined),
        present.some(({ opened }) => opened === home) ? services.reads.state() : null,
        ...present.map(({ opened }) => figuresOf(opened).catch(() => undefined)),
      ])
      const figures = settled.flatMap((ofCell) => ofCell ?? [])
      if (figures.length === 0) throw new Error('no database answers')
      replicaLagBytes.set(replica === null ? 0 : (replica.lagBytes ?? -1))
      replicaLagSeconds.set(replica === null ? 0 : (replica.lagSeconds ?? -1))
      if (most !== undefined) storageBytes.set(most)
      pausedActions.set(sumOf(figures, ({ flows }) => flows.pausedActions))
      breakersOpen.set(sumOf(figures, ({ flows }) => flows.breakersOpen))
      const states = figures.flatMap(({ flows }) => Object.entries(flows.deliveries))
      for (const [state, ofState] of Map.groupBy(states, ([name]) => name))
        flowDeliveries.set(
          { state },
          sumOf(ofState, ([, deliveries]) => deliveries),
        )
      const loads = figures.flatMap(({ sends }) => sends)
      for (const [kind, ofKind] of Map.groupBy(loads, (one) => one.kind)) {
        sendsWaiting.set(
          { kind },
          sumOf(ofKind, ({ waiting }) => waiting),
        )
        sendLagSeconds.set({ kind }, Math.max(...ofKind.map(({ lagSeconds }) => lagSeconds)))
      }
      const queues = figures.flatMap(({ load }) => load)
      for (const [queue, ofQueue] of Map.groupBy(queues, (one) => one.queue)) {
        queueDepth.set(
          { queue },
          sumOf(ofQueue, ({ depth }) => depth),
        )
        queueLagSeconds.set({ queue }, Math.max(...ofQueue.map(({ lagSeconds }) => lagSeconds)))
      }
    },
  }
}

function databaseChecks({ services, boss }: OpenServices): Operations['checks'] {
  return { database: shared(() => checkDatabase(services.db)), queue: shared(() => checkQueue(boss)) }
}

async function figuresOf({ services, boss }: OpenServices) {
  const [flows, load, sends] = await Promise.all([
    readFlowFigures(services.db),
    readQueueLoad(boss),
    readSendLoad(services),
  ])
  return { flows, load, sends }
}

function sumOf<One>(all: Iterable<One>, figure: (one: One) => number): number {
  let sum = 0
  for (const one of all) sum += figure(one)
  return sum
}

/**
 * One cell that answers makes the process ready: its callers must not lose the gateway when another cell fails. After a
 * start each cell is tried once before.
 */
async function checkCells(cells: CellStates): Promise<void> {
  const states = new Set(cells.all().values())
  if (states.has('opening')) throw new Error('a cell is still opening')
  if (!states.has('ok')) throw new Error('no cell is reached')
}

function notesOf(cells: CellStates): NonNullable<Operations['notes']> {
  return Object.fromEntries(
    Array.from(cells.all().keys(), (name) => [
      `cell ${name}`,
      () => Promise.resolve(cells.all().get(name) ?? 'opening'),
    ]),
  )
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

/** State of a cell, as `/readyz` shows it. */
export type CellState =
  | 'ok'
  | 'out of reach'
  | 'opening'
  | 'needs creel migrate'
  | 'newer than this program'
  | 'refused'

/** States of the cells of an installation in this process. */
interface CellStates {
  note(place: CellPlace, state: CellState): void
  all(): ReadonlyMap<string, CellState>
}

/** Keeps the states, also as the metric `creel_cell_up`. The first states are `opening`. */
export function createCellStates(places: readonly CellPlace[]): CellStates {
  const states = new Map<string, CellState>()
  const note = ({ name }: CellPlace, state: CellState) => {
    states.set(name, state)
    cellUp.set({ cell: name }, state === 'ok' ? 1 : 0)
  }
  for (const place of places) note(place, 'opening')
  return { note, all: () => states }
}
