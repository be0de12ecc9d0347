import { CERTIFICATE_CHECK, checkCertificates, pauseGone } from './actions/index.ts'
import { ALERT_SWEEP, alertSends, fanOutAlert, sweepAlerts } from './alertChannels/index.ts'
import { ALERT_FAN_OUT } from './alerts/index.ts'
import type { Services } from './api/services.ts'
import {
  BACKLOG_CHECK,
  FAILING_CHECK,
  type FirstAttempts,
  finishNotify,
  flowSends,
  RECOVERY_SWEEP,
  recoverInterrupted,
  shortenLeases,
  startPresence,
  watchBacklogs,
  watchFailing,
} from './deliveries/index.ts'
import {
  LANE_SWEEP,
  type Lanes,
  lanesOf,
  type RunningLanes,
  type SendLoad,
  type Slots,
} from './dispatch/index.ts'
import { ERASURE_RUNS, ERASURE_SWEEP, runErasure, sweepErasures } from './erasures/index.ts'
import { IMPORT_SWEEP, sweepImports } from './exports/index.ts'
import { type Db, Failures, type Trx } from './platform/db/index.ts'
import type { Queue } from './platform/queues.ts'
import {
  RECONCILIATION_RUNS,
  RECONCILIATION_SWEEP,
  runReconciliation,
  sweepReconciliations,
} from './reconcile/index.ts'
import { pauseAbandoned, REHEARSAL_SENDS, REPLAY_SWEEP } from './rehearsals/index.ts'
import { sweepRelay } from './relay/index.ts'
import { makeSearchPages, SEARCH_PAGES, sweepOriginals } from './requests/index.ts'
import {
  analyzeOutgrown,
  ENDPOINT_SWEEP,
  holdByteBounds,
  RETENTION_SWEEP,
  STATISTICS,
  STORAGE_SWEEP,
  sweepEndpoints,
  sweepRetention,
} from './retention/index.ts'
import { SEALING, sealStored } from './sealing/index.ts'
import {
  CALLBACK_SENDS,
  SUBSCRIPTION_SWEEP,
  startEventReader,
  sweepSubscriptions,
} from './subscriptions/index.ts'
import { checkWatchdogs, keepDeadlines, startHeartbeat, WATCHDOG_CHECK } from './watchdogs/index.ts'

/** A queue with the work of its jobs, which runs at least once: every verb is safe to run twice. */
export interface QueueWork {
  readonly queue: Queue
  /** @param data the payload as it was stored. @throws ZodError for one that no version has queued */
  run(services: Services, data: unknown, signal: AbortSignal): Promise<void>
}

function work<Payload>(
  queue: Queue<Payload>,
  verb: (services: Services, payload: Payload, signal: AbortSignal) => Promise<unknown>,
): QueueWork {
  return {
    queue,
    async run(services, data, signal) {
      await verb(services, queue.payload.parse(data), signal)
    },
  }
}

const DELIVERIES = lanesOf(flowSends(pauseGone))

/** Sends that the scheduler makes, by kind. */
const LANES: readonly Lanes[] = [
  DELIVERIES,
  lanesOf(alertSends(finishNotify)),
  lanesOf(CALLBACK_SENDS),
  lanesOf(REHEARSAL_SENDS),
]

/** Every queue but those of {@link LANES}, with its work. */
export const QUEUE_WORK: readonly QueueWork[] = [
  work(RECOVERY_SWEEP, recoverInterrupted),
  work(BACKLOG_CHECK, watchBacklogs),
  work(FAILING_CHECK, watchFailing),
  work(ALERT_FAN_OUT, fanOutAlert),
  work(ALERT_SWEEP, sweepAlerts),
  work(LANE_SWEEP, async (services) => {
    for (const lanes of LANES) await lanes.requeue(services)
  }),
  work(WATCHDOG_CHECK, (services, _, signal) => checkWatchdogs(services, signal)),
  work(CERTIFICATE_CHECK, (services, _, signal) => checkCertificates(services, signal)),
  work(RECONCILIATION_RUNS, runReconciliation),
  work(RECONCILIATION_SWEEP, sweepReconciliations),
  work(ERASURE_RUNS, runErasure),
  work(ERASURE_SWEEP, sweepErasures),
  work(REPLAY_SWEEP, pauseAbandoned),
  work(SUBSCRIPTION_SWEEP, sweepSubscriptions),
  work(ENDPOINT_SWEEP, async (services, _, signal) => {
    const failures = new Failures()
    for (const one of [sweepOriginals, sweepEndpoints, sweepRelay])
      await failures.unless(() => one(services, signal))
    failures.throwAny()
  }),
  work(IMPORT_SWEEP, (services, _, signal) => sweepImports(services, signal)),
  work(RETENTION_SWEEP, (services, _, signal) => sweepRetention(services, signal)),
  work(STORAGE_SWEEP, (services, _, signal) => holdByteBounds(services, signal)),
  work(SEALING, (services, _, signal) => sealStored(services, signal)),
  work(SEARCH_PAGES, (services, _, signal) => makeSearchPages(services, signal)),
  work(STATISTICS, ({ db }) => analyzeOutgrown(db)),
]

export const QUEUES: readonly Queue[] = [
  ...LANES.map(({ queue }) => queue),
  ...QUEUE_WORK.map(({ queue }) => queue),
]

/**
 * Queues all open work of a workspace that arrives from another cell, shortens the leases of its attempts, and keeps the
 * deadlines of its watchdogs, in the transaction in which it arrives.
 *
 * @param former the cell that it comes from
 */
export async function queueWorkOf(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  workspaceId: string,
  former: Db,
): Promise<void> {
  await keepDeadlines(services, trx, { workspaceId, former })
  await shortenLeases(trx, workspaceId, services.clock.now())
  for (const lanes of LANES) await lanes.queueArrived(services, trx, workspaceId)
}

/** Reads what waits of every kind of sends. */
export function readSendLoad(services: Services): Promise<readonly SendLoad[]> {
  return Promise.all(LANES.map((lanes) => lanes.readLoad(services)))
}

/** The sending side of a process. */
export interface RunningSends {
  readonly lanes: readonly RunningLanes[]
  readonly firstAttempts: FirstAttempts
}

/** Starts the sends of every kind, which share the slots. */
export function startSends(services: Services, slots: Slots): RunningSends {
  const deliveries = DELIVERIES.start(services, slots)
  const others = LANES.filter((lanes) => lanes !== DELIVERIES).map((lanes) => lanes.start(services, slots))
  return { lanes: [deliveries, ...others], firstAttempts: deliveries }
}

/** The parts of a process in which a loop may run; `process` is any. */
export type LoopPart = 'process' | 'gateway' | 'jobs'

/** Work of a process that goes on beside its queues. */
export interface RunningLoop {
  /** Ends the loop. Work under way may go on for `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}

interface Loop {
  readonly part: LoopPart
  /** Whether it calls other servers. It does not run in an installation that sends nothing. Default false. */
  readonly calls?: boolean
  start(services: Services): RunningLoop | Promise<RunningLoop>
}

/** Every loop of core. {@link startSends} is apart: captures hand it attempts. */
const LOOPS: readonly Loop[] = [
  { part: 'process', start: startPresence },
  { part: 'gateway', start: startHeartbeat },
  { part: 'jobs', calls: true, start: startEventReader },
]

/**
 * Starts the loops of a part of this process, for one cell.
 *
 * @param options `calls`: false leaves out those that call other servers
 */
export async function startLoops(
  services: Services,
  part: LoopPart,
  { calls = true }: { readonly calls?: boolean } = {},
): Promise<RunningLoop> {
  const wanted = LOOPS.filter((loop) => loop.part === part && (calls || loop.calls !== true))
  const running: RunningLoop[] = []
  for (const loop of wanted) running.push(await loop.start(services))
  return {
    stop: async (timeoutMs) => {
      await Promise.all(running.map((loop) => loop.stop(timeoutMs)))
    },
  }
}
