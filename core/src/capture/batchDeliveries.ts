import type { LoadedAction } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import {
  beginFirstAttempts,
  type ClaimedFirst,
  type FirstAttempts,
  flowSignal,
  leaseFrom,
  NO_POLICY,
  type StartedDelivery,
  startedDelivery,
  startParameters,
} from '../deliveries/index.ts'
import type { Lane, LaneJobs, SharedJob } from '../dispatch/index.ts'
import type { Pipeline, TextRow, Trx } from '../platform/db/index.ts'
import type { CaptureSettings } from './captureSettings.ts'
import { asStored, type EvaluatedCapture, orderKeyOf } from './evaluateCapture.ts'

/** Captures of one endpoint in a batch, in the order of the batch. */
export interface Group {
  readonly settings: CaptureSettings
  readonly captures: EvaluatedCapture[]
}

export type DeliveryServices = Pick<
  Services,
  'db' | 'plans' | 'secrets' | 'clock' | 'enqueue' | 'log' | 'workerId' | 'endpointChanges'
> & {
  readonly firstAttempts: FirstAttempts
  readonly laneJobs: LaneJobs
}

interface Planned {
  readonly capture: EvaluatedCapture
  readonly action: LoadedAction
  /** Number of later captures of the endpoint in the batch. */
  readonly newer: number
  readonly orderKey: string | null
  /** Held if this process makes the first attempt as soon as the capture is committed. */
  readonly slot: ReturnType<FirstAttempts['hold']>
}

/**
 * The deliveries of one batch, from the plan to the first attempts. Their rows are written in the transaction of the
 * captures. The first attempt is claimed if a slot is free in this process, else it waits in its lane.
 */
export class BatchDeliveries {
  readonly #services: DeliveryServices
  readonly #now: Date
  /** End of the lease of attempts whose action has no time limit of its own. */
  readonly #leaseUntil: Date
  readonly #planned = new Map<Group, readonly Planned[]>()
  /** Lanes with deliveries that wait. */
  readonly #lanes: readonly Lane[]
  readonly #jobs: readonly SharedJob[]
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
    this.#lanes = this.#all.flatMap(({ slot, capture, action: { id } }) =>
      slot === undefined ? [{ id, workspaceId: capture.settings.workspaceId }] : [],
    )
    this.#jobs = services.laneJobs.missing(
      this.#lanes.map((lane) => ({ ...lane, dueAt: this.#now })),
      this.#now,
    )
  }

  /** Whether lanes need jobs, which must be queued in the same transaction. */
  get needJobs(): boolean {
    return this.#jobs.length > 0
  }

  /** Adds the statement that starts the deliveries of a group, after the one that stores its captures. */
  add(pipeline: Pipeline, group: Group): void {
    const planned = this.#planned.get(group)
    if (planned === undefined) return
    const starting = planned.map(({ capture, action, newer, orderKey, slot }) => ({
      newer,
      orderKey,
      actionId: action.id,
      actionName: action.name,
      kind: action.kind,
      receivedAt: capture.row.receivedAt,
      claimedUrl: slot === undefined ? null : action.url,
      leaseUntil: action.policy === NO_POLICY ? this.#leaseUntil : leaseFrom(this.#now, action.policy),
    }))
    const claim = { now: this.#now, workerId: this.#services.workerId }
    const stored = group.captures.length
    pipeline.execute('start deliveries', startParameters(group.settings, stored, starting, claim))
  }

  /** @param rows rows that the statements of {@link add} returned */
  haveStarted(rows: readonly TextRow[]): void {
    this.#started = rows.map(startedDelivery)
  }

  /** Queues the jobs that lanes need. */
  async enqueue(trx: Trx): Promise<void> {
    await this.#services.laneJobs.insert(this.#services, trx, this.#jobs)
  }

  /** Begins the claimed attempts, and leads to looks at the other ones. Call it once the captures are committed. */
  begin(): void {
    const { laneJobs, endpointChanges } = this.#services
    const claimed = this.#each((planned, started) => this.#claimed(planned, started))
    if (claimed.length > 0) void beginFirstAttempts(this.#services, claimed)
    laneJobs.haveCommitted(this.#jobs)
    endpointChanges.announce(this.#lanes.map((lane) => flowSignal('work', lane)))
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
    const isForward = action.kind === 'forward' && action.url !== null
    const lane = { id: action.id, workspaceId: capture.settings.workspaceId }
    const slot =
      isForward && !action.governed
        ? this.#services.firstAttempts.hold(lane, capture.row.body.length)
        : undefined
    return { capture, action, newer, orderKey: orderKeyOf(capture, action), slot }
  }

  #claimed({ capture, action, slot }: Planned, started: StartedDelivery): ClaimedFirst | undefined {
    const { attemptId } = started
    if (slot === undefined) return undefined
    if (attemptId === null) {
      slot.release()
      return undefined
    }
    const { row } = capture
    const { workspaceId, endpointName, captureId, plan, sealing } = capture.settings
    // The texts of a sealed row cannot be read, and the evaluation has set them.
    const request = row.sealed === null ? asStored(capture.request, row) : capture.request
    const endpoint = { endpointName, captureId }
    const claim = { slot, bytes: row.body.length, attemptId, now: this.#now }
    return { ...started, ...endpoint, ...claim, request, workspaceId, plan, sealing, action }
  }
}
