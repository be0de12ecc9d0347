import type { ActionRow } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import {
  type Attempt,
  type AttemptResult,
  leaseFrom,
  sendAttempt,
  TIMEOUT_SECONDS,
} from '../deliveries/index.ts'
import { type Plan, retentionMs } from '../plans/index.ts'
import { beginReplay, type ReplayTarget } from '../replay/index.ts'
import { NO_RULE_SET } from '../transformations/index.ts'
import { type ReplayOptions, urlTarget } from './options.ts'
import type { Preparing } from './prepare.ts'
import type { ClaimedItem } from './queries.ts'

/** A replay with the destination of its sends. */
export interface Sending extends Preparing {
  readonly workspaceId: string
  readonly plan: Plan
  /** The action that it goes through; null for a URL. */
  readonly action: ActionRow | null
}

/** Sends a prepared request. A failure is a result. An attempt through an action has a row, which the caller ends. */
export async function makeSend(
  services: Services,
  { id, workspaceId, plan, options, endpoint, action }: Sending,
  { position, requestId, fault }: Pick<ClaimedItem, 'position' | 'requestId' | 'fault'>,
  { request, sealing, redaction }: Pick<ReplayTarget, 'request' | 'sealing' | 'redaction'>,
  { signal, ready }: { readonly signal: AbortSignal; readonly ready: () => Promise<void> },
): Promise<{ readonly attempt: Attempt; readonly result: AttemptResult }> {
  const of = { workspaceId, endpoint, requestId, request, sealing }
  const timeoutSeconds = options.timeoutSeconds ?? undefined
  const signing = options.sign !== 'creel' ? 'none' : fault === 'bad-signature' ? 'wrong' : 'own'
  const target: ReplayTarget = { ...of, plan, redaction, rehearsal: { id, signing, timeoutSeconds } }
  const attempt = action === null ? urlAttempt() : await beginReplay(services, target, action)
  return { attempt, result: await sendAttempt(services, attempt, signal, ready) }

  function urlAttempt(): Attempt {
    const startedAt = services.clock.now()
    return {
      ...of,
      id: position,
      deliveryId: null,
      attemptNumber: 1,
      trigger: 'rehearsal',
      rehearsalId: id,
      action: urlAction(id, options),
      rules: NO_RULE_SET,
      startedAt,
      leaseUntil: leaseFrom(startedAt),
      retentionEndsAt: new Date(request.receivedAt.getTime() + retentionMs(plan.limits)),
      refusal: null,
    }
  }
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
