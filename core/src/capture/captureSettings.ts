import { isOn, type LoadedAction, loadDispatchActions } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import { type ServedResponse, safeResponse, storedSettings } from '../endpoints/index.ts'
import { ConditionSet, looksOf, type Path, storedCondition } from '../engine/conditions/index.ts'
import { networkMatcher } from '../engine/networks.ts'
import {
  eventIdPathOf,
  type PreparedVerification,
  prepareVerification,
} from '../engine/verification/index.ts'
import { planOf } from '../plans/index.ts'
import { listCriteria } from '../watchdogs/index.ts'

/** Everything of an endpoint that a capture is evaluated and answered by. */
export interface CaptureSettings {
  readonly endpointId: string
  /** What its capture URL is called by. */
  readonly captureId: string
  /** What its capture URL was called by before, which goes on until `previousCaptureUntil`; null: there was none. */
  readonly previousCaptureId: string | null
  readonly previousCaptureUntil: Date | null
  readonly endpointName: string
  readonly workspaceId: string
  /** The key of the workspace's plan. */
  readonly plan: string
  /** Under which it was read: the capture statement refuses what was evaluated under another. */
  readonly revision: number
  readonly payloadBytesMax: number
  readonly storedRequestsMax: number
  readonly captureRatePerMinute: number
  readonly captureBytesPerMinute: number
  /** Captures that are not verified are answered 401. */
  readonly rejectUnverified: boolean
  /** Undefined: from anywhere. */
  readonly isAllowedSender: ((address: string | null) => boolean) | undefined
  readonly response: ServedResponse
  /** Holds decrypted keys: never to be logged. */
  readonly verification: PreparedVerification
  /** Where event ids stand, instead of where the provider puts them. */
  readonly eventIdPath: Path | null
  /** In position order. */
  readonly actions: readonly LoadedAction[]
  /** Some of them are governed. */
  readonly hasFlows: boolean
  /** What watchdogs wait for, by the ids of their criteria. */
  readonly criteria: ConditionSet<string>
  /** Comparisons that the conditions of both may make with each value of a capture (`looksOf`). */
  readonly looks: number
}

/**
 * Reads the settings of endpoints that are not deleted; expiry and the like are the capture statement's to evaluate.
 *
 * @param captureIds well-formed uuids that capture URLs are called by
 * @returns by every capture id that is in use by the endpoints that were found; unknown ones are absent
 */
export async function loadCaptureSettings(
  services: Pick<Services, 'clock' | 'db' | 'plans' | 'secrets'>,
  captureIds: readonly string[],
): Promise<Map<string, CaptureSettings>> {
  const { clock, db, plans, secrets } = services
  const now = clock.now()
  // The revision is read before what it counts: what is read later can only be newer, and then reads as stale.
  const endpoints = await db
    .selectFrom('endpoints as e')
    .innerJoin('endpointRevisions as v', 'v.endpointId', 'e.id')
    .innerJoin('workspaces as w', 'w.id', 'e.workspaceId')
    .where((where) =>
      where.or([
        where.and([where('e.id', 'in', captureIds), where('e.captureId', 'is', null)]),
        where('e.captureId', 'in', captureIds),
        where.and([
          where('e.previousCaptureId', 'in', captureIds),
          where('e.previousCaptureUntil', '>', now),
        ]),
      ]),
    )
    .where('e.deletedAt', 'is', null)
    .selectAll('e')
    .select(['v.revision', 'w.plan'])
    .execute()
  if (endpoints.length === 0) return new Map()
  const found = endpoints.map((endpoint) => endpoint.id)
  const [actions, criteria] = await Promise.all([
    loadDispatchActions(db, found),
    Promise.all(found.map((id) => listCriteria(db, id))),
  ])
  return new Map(
    endpoints.flatMap((endpoint, index) => {
      const { limits } = planOf(plans, endpoint.plan)
      const endpointActions = actions.get(endpoint.id) ?? []
      const endpointCriteria = new ConditionSet(
        (criteria[index] ?? []).map(({ id, match }) => ({ item: id, condition: storedCondition(match) })),
      )
      const settings: CaptureSettings = {
        endpointId: endpoint.id,
        captureId: endpoint.captureId ?? endpoint.id,
        previousCaptureId: endpoint.previousCaptureId,
        previousCaptureUntil: endpoint.previousCaptureUntil,
        endpointName: endpoint.name,
        workspaceId: endpoint.workspaceId,
        plan: endpoint.plan,
        revision: endpoint.revision,
        payloadBytesMax: limits.payloadBytesMax,
        storedRequestsMax: limits.storedRequestsMax,
        captureRatePerMinute: limits.captureRatePerMinute,
        captureBytesPerMinute: limits.captureBytesPerMinute,
        rejectUnverified: endpoint.rejectUnverified,
        isAllowedSender: allowedSendersOf(endpoint.allowedSenders),
        response: safeResponse({
          ...endpoint,
          responseHeaders: JSON.parse(endpoint.responseHeaders),
        }),
        verification: prepareVerification(storedSettings(endpoint, secrets)),
        eventIdPath: eventIdPathOf(endpoint.eventIdPath),
        actions: endpointActions,
        hasFlows: endpointActions.some(({ governed }) => governed),
        criteria: endpointCriteria,
        looks: endpointActions
          .filter(isOn)
          .reduce((sum, { condition }) => sum + looksOf(condition), endpointCriteria.looks),
      }
      return captureIdsOf(settings, now).map((id) => [id, settings] as const)
    }),
  )
}

/** Under one object for all of them, so that what is known of the endpoint's rate is known under each. */
function captureIdsOf({ captureId, previousCaptureId, previousCaptureUntil }: CaptureSettings, now: Date) {
  if (previousCaptureId === null || previousCaptureUntil === null || previousCaptureUntil <= now)
    return [captureId]
  return [captureId, previousCaptureId]
}

function allowedSendersOf(stored: string): CaptureSettings['isAllowedSender'] {
  const networks: string[] = JSON.parse(stored)
  return networks.length === 0 ? undefined : networkMatcher(networks)
}
