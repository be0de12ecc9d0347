import type { ActionRow } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import { type Attempt, leaseFrom, sendAttempt, TIMEOUT_SECONDS } from '../deliveries/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { type Plan, retentionMs } from '../plans/index.ts'
import { type ReplayTarget, replayForward } from '../replay/index.ts'
import { NO_RULE_SET } from '../transformations/index.ts'
import { type Received, receivedOf } from './finish.ts'
import { type ReplayOptions, urlTarget } from './options.ts'
import type { ItemRow } from './queries.ts'

export interface Sending {
  readonly id: string
  readonly workspaceId: string
  readonly plan: Plan
  readonly options: ReplayOptions
  readonly endpoint: EndpointRow
  /** The action that it goes through; null for a URL. */
  readonly action: ActionRow | null
}

/** Sends a prepared request. A failure is a result. Through an action it is recorded as an attempt. */
export async function send(
  services: Services,
  { id, workspaceId, plan, options, endpoint, action }: Sending,
  { position, requestId, fault }: Pick<ItemRow, 'position' | 'requestId' | 'fault'>,
  { request, sealing }: Pick<ReplayTarget, 'request' | 'sealing'>,
  signal: AbortSignal,
): Promise<Received> {
  const timeoutSeconds = options.timeoutSeconds ?? undefined
  if (action !== null) {
    const isWrong = fault === 'bad-signature'
    const signing = options.sign === 'creel' ? (isWrong ? 'wrong' : 'own') : 'none'
    const target = {
      workspaceId,
      plan,
      endpoint,
      requestId,
      request,
      sealing,
      rehearsal: { id, signing, timeoutSeconds },
    } as const
    const { result } = await replayForward(services, target, action, signal)
    return receivedOf(result)
  }
  const startedAt = services.clock.now()
  const attempt: Attempt = {
    id: position,
    deliveryId: null,
    attemptNumber: 1,
    trigger: 'rehearsal',
    rehearsalId: id,
    workspaceId,
    endpoint,
    action: urlAction(id, options),
    requestId,
    request,
    sealing,
    rules: NO_RULE_SET,
    inFlow: false,
    startedAt,
    leaseUntil: leaseFrom(startedAt),
    retentionEndsAt: new Date(request.receivedAt.getTime() + retentionMs(plan.limits)),
    refusal: null,
  }
  return receivedOf(await sendAttempt(services, attempt, signal))
}

/** A URL as an action without credentials, rules and signature. */
function urlAction(id: string, options: ReplayOptions): Attempt['action'] {
  return {
    id,
    name: 'replay',
    ...urlTarget(options),
    signing: { scheme: 'creel', secrets: [] },
    auth: null,
    tls: null,
    policy: { timeoutSeconds: options.timeoutSeconds ?? TIMEOUT_SECONDS },
    isGoverned: false,
  }
}
