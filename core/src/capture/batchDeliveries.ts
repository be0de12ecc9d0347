import type { LoadedAction } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import {
  type AttemptSlot,
  attemptJobs,
  beginFirstAttempts,
  type ClaimedFirst,
  DUE_ATTEMPTS,
  type FirstAttempts,
  leaseFrom,
  type NewDelivery,
  NO_POLICY,
  type SlotRequest,
  type StartedDelivery,
  startedDelivery,
  startInFlowsParameters,
  startParameters,
} from '../deliveries/index.ts'
import type { LaneJobs, SharedJob } from '../dispatch/index.ts'
import type { Pipeline, TextRow, Trx } from '../platform/db/index.ts'
import type { CaptureSettings } from './captureSettings.ts'
import { asStored, type EvaluatedCapture, flowOf } from './evaluateCapture.ts'

/** Captures of one endpoint in a batch, in the order of the batch. */
export interface Group {
  readonly settings: CaptureSettings
  readonly captures: EvaluatedCapture[]
}

export type DeliveryServices = Pick<
  Services,
  'db' | 'plans' | 'secrets' | 'clock' | 'enqueue' | 'log' | 'workerId'
> & {
  readonly firstAttempts: FirstAttempts
  /** Jobs of the flows of governed actions. */
  readonly flowJobs: LaneJobs
}

interface Planned {
  readonly capture: EvaluatedCapture
  readonly action: LoadedAction
  /** Number of later captures of the endpoint in the batch. */
  readonly newer: number
  /** Set if the action is governed. */
  readonly flow: NewDelivery['flow']
  /** Held if this process makes the first attempt as soon as the capture is committed. */
  readonly slot: AttemptSlot | undefined
}

/**
 * The deliveries of one batch, from the plan to the first attempts. Their rows are written in the transaction of the
 * captures. The first attempt is claimed if a slot is free in this process, else it gets a job.
 */
export class BatchDeliveries {
  readonly #services: DeliveryServices
  readonly #now: Date
  /** End of the lease of attempts whose action has no time limit of its own. */
  readonly #leaseUntil: Date
  readonly #planned = new Map<Group, readonly Planned[]>()
  readonly #flowJobs: readonly SharedJob[]
  #started: readonly StartedDelivery[] = []

  /** Holds slots. {@link begin} or {@link release} gives them back. */
  constructor(services: DeliveryServices, groups: readonly Group[]) {
    this.#services = services
    this.#now = services.clock.now()
    this.#leaseUntil = leaseFrom(this.#now)
    for (const group of groups) {
      const planned = group.captures.flatMap((capture, index) =>
        capture.dispatch.actions.map((action) =>
          this.#plan(capture, action, group.captures.length - 1 - index),
        ),
      )
      if (planned.length > 0) this.#planned.set(group, planned)
    }
    const flows = this.#all.flatMap(({ flow, capture, action: { id } }) =>
      flow === null ? [] : [{ id, workspaceId: capture.settings.workspaceId, dueAt: this.#now }],
    )
    this.#flowJobs = services.flowJobs.missing(flows, this.#now)
  }

  /** Whether some deliveries need a job, which must be queued in the same transaction. */
  get needJobs(): boolean {
    return this.#flowJobs.length > 0 || this.#all.some(needsJob)
  }

  /** Adds the statement that starts the deliveries of a group, after the one that stores its captures. */
  add(pipeline: Pipeline, group: Group): void {
    const planned = this.#planned.get(group)
    if (planned === undefined) return
    const starting = planned.map(({ capture, action, newer, flow, slot }) => ({
      newer,
      flow,
      actionId: action.id,
      actionName: action.name,
      kind: action.kind,
      receivedAt: capture.row.receivedAt,
      claimedUrl: slot === undefined ? null : action.url,
      leaseUntil: action.policy === NO_POLICY ? this.#leaseUntil : leaseFrom(this.#now, action.policy),
    }))
    const claim = { now: this.#now, workerId: this.#services.workerId }
    const stored = group.captures.length
    if (planned.some(({ flow }) => flow !== null)) {
      const parameters = startInFlowsParameters(group.settings, stored, starting, claim)
      pipeline.execute('start deliveries in flows', parameters)
    } else pipeline.execute('start deliveries', startParameters(group.settings, stored, starting, claim))
  }

  /** @param rows rows that the statements of {@link add} returned */
  haveStarted(rows: readonly TextRow[]): void {
    this.#started = rows.map(startedDelivery)
  }

  /** Queues the first attempts that are not claimed, and the flows that have no job. */
  async enqueue(trx: Trx): Promise<void> {
    const attempts = this.#each((planned, { deliveryId }) => {
      const { action, capture } = planned
      return needsJob(planned)
        ? {
            deliveryId,
            attempt: 1,
            ...sizeOf(capture, action),
            yields: this.#services.firstAttempts.isSlow(action.id),
          }
        : undefined
    })
    await this.#services.enqueue(trx, DUE_ATTEMPTS, attemptJobs(attempts))
    await this.#services.flowJobs.insert(this.#services, trx, this.#flowJobs)
  }

  /** Begins the claimed attempts. Call it once the captures are committed. */
  begin(): void {
    const claimed = this.#each((planned, started) => this.#claimed(planned, started))
    if (claimed.length > 0) void beginFirstAttempts(this.#services, claimed)
    this.#services.flowJobs.haveCommitted(this.#flowJobs)
  }

  /** Gives the slots back. Call it when the captures are not known to be committed. */
  release(): void {
    for (const { slot } of this.#all) slot?.release()
  }

  get #all(): readonly Planned[] {
    return [...this.#planned.values()].flat()
  }

  #each<Result>(make: (planned: Planned, started: StartedDelivery) => Result | undefined): Result[] {
    return this.#all.flatMap((planned, index) => {
      const started = this.#started[index]
      const made = started === undefined ? undefined : make(planned, started)
      return made === undefined ? [] : [made]
    })
  }

  #plan(capture: EvaluatedCapture, action: LoadedAction, newer: number): Planned {
    const flow = flowOf(capture, action)
    const isForward = action.kind === 'forward' && action.url !== null
    const slot =
      isForward && flow === null ? this.#services.firstAttempts.hold(sizeOf(capture, action)) : undefined
    return { capture, action, newer, flow, slot }
  }

  #claimed({ capture, action, slot }: Planned, started: StartedDelivery): ClaimedFirst | undefined {
    const { attemptId } = started
    if (slot === undefined) return undefined
    if (attemptId === null) {
      slot.release()
      return undefined
    }
    const { workspaceId, endpointName, captureId, plan, sealing } = capture.settings
    const { row } = capture
    // Of a sealed row the texts cannot be read, and the evaluation has set them.
    const request = row.sealed === null ? asStored(capture.request, row) : capture.request
    const endpoint = { endpointName, captureId }
    const claim = { slot, attemptId, now: this.#now }
    return { ...started, ...endpoint, ...claim, request, workspaceId, plan, sealing, action }
  }
}

function sizeOf({ settings, row }: EvaluatedCapture, { id }: LoadedAction): SlotRequest {
  return { actionId: id, workspaceId: settings.workspaceId, bodyBytes: row.body.length }
}

function needsJob({ slot, flow }: Planned): boolean {
  return slot === undefined && flow === null
}
