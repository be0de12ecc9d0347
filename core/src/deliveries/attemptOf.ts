import type { Services } from '../api/services.ts'
import {
  type CapturedRequest,
  type EvaluatedRequest,
  leavesBasePath,
  type Target,
} from '../engine/message/index.ts'
import { storedWord } from '../engine/words/index.ts'
import { planOf, retentionMs } from '../plans/index.ts'
import type { TlsIdentity } from '../platform/outbound/index.ts'
import { isShredded, keyOfRow, type SecretBox } from '../platform/secrets/index.ts'
import { hasOriginal, type StoredRequestRow } from '../requests/index.ts'
import {
  type Attempt,
  type ForwardAction,
  LEASE_SECONDS,
  LEASE_TIMEOUTS,
  type Refusal,
  UNSAFE_PATH,
} from './attempt.ts'
import { type ForwardAuth, storedAuth, storedTls } from './auth.ts'
import { type DueRow, type ForwardSettings, isOff } from './dueAttempts.ts'
import { isLoop } from './forwardHeaders.ts'
import { type DeliveryPolicy, NO_POLICY, storedPolicy } from './policy.ts'
import { TRIGGERS } from './states.ts'

/**
 * End of the lease of an attempt that begins now.
 *
 * @param policy policy of its action; {@link LEASE_SECONDS} without one
 */
export function leaseFrom(now: Date, { timeoutSeconds }: DeliveryPolicy = NO_POLICY): Date {
  const seconds = Math.max(LEASE_SECONDS, LEASE_TIMEOUTS * (timeoutSeconds ?? 0))
  return new Date(now.getTime() + seconds * 1000)
}

/**
 * {@link leaseFrom} in SQL.
 *
 * @param policy SQL for the text of the action's policy
 * @param now SQL for when the attempt begins
 * @param usual SQL for the end of the lease without a policy
 */
export const leaseSql = (policy: string, now: string, usual: string): string =>
  `case when ${policy} is null then ${usual} else ${now} + interval '1 second' * greatest(${LEASE_SECONDS},
    ${LEASE_TIMEOUTS} * (${policy}::json ->> 'timeoutSeconds')::int) end`

/** Facts of an attempt's delivery, action and endpoint. */
export type ClaimedDelivery = Omit<
  DueRow,
  | keyof StoredRequestRow
  | 'kind'
  | 'offSince'
  | 'alertChannelId'
  | 'messageTemplate'
  | 'redaction'
  | 'omittedBytes'
  | 'sealed'
  | 'flowState'
  | 'sealedUntil'
> & { readonly endpointId: string }

/**
 * Builds a claimed attempt, with its retention, its lease and the reason not to send it, if there is one.
 *
 * @param claim what is not of its delivery or its request; it starts when it is claimed
 */
export function attemptOf(
  services: Pick<Services, 'secrets' | 'plans'>,
  row: Omit<ClaimedDelivery, 'deliveryId'> & Pick<Attempt, 'deliveryId'>,
  request: EvaluatedRequest,
  claim: Pick<Attempt, 'id' | 'startedAt' | 'action' | 'rules'>,
): Attempt {
  const { action, startedAt } = claim
  const keptMs = retentionMs(planOf(services.plans, row.plan).limits)
  return {
    ...claim,
    deliveryId: row.deliveryId,
    attemptNumber: row.attempt,
    trigger: row.attempt === 1 ? storedWord(TRIGGERS, row.trigger) : 'retry',
    workspaceId: row.workspaceId,
    endpoint: { id: row.endpointId, name: row.endpointName, captureId: row.captureId },
    requestId: row.requestId,
    request,
    leaseUntil: leaseFrom(startedAt, action.policy),
    retentionEndsAt: new Date(request.receivedAt.getTime() + keptMs),
    sealing: keyOfRow(row),
    refusal: isShredded(row)
      ? 'shredded'
      : isOff(row)
        ? 'action_off'
        : refusalOf(request, action, services.secrets),
  }
}

/** The attempt with the original of its request, if that was kept. Without it, it is not sent: less is not enough. */
export function withOriginal(
  attempt: Attempt,
  { redaction, requestId }: { readonly redaction: string | null; readonly requestId: number },
  originals: ReadonlyMap<number, EvaluatedRequest>,
): Attempt {
  if (!hasOriginal(redaction)) return attempt
  const original = originals.get(requestId)
  if (original === undefined) return { ...attempt, refusal: attempt.refusal ?? 'original_gone' }
  return { ...attempt, request: original, stored: attempt.request }
}

/**
 * Why a captured request is not forwarded: its body was truncated, it is in a loop, or its path leads out of the
 * destination. Null if it is forwarded.
 */
export function refusalOf(
  request: Pick<CapturedRequest, 'bodyTruncated' | 'headers' | 'path'>,
  target: Pick<Target, 'url' | 'appendPath'>,
  secrets: Pick<SecretBox, 'knowsMark'>,
): Refusal | null {
  if (request.bodyTruncated) return 'oversize'
  if (isLoop(request.headers, secrets)) return 'loop'
  return leavesBasePath(target, request.path) ? UNSAFE_PATH : null
}

type ActionRow = ForwardSettings & Pick<DueRow, 'workspaceId' | 'actionId' | 'actionName'>

/**
 * {@link forwardAction} for rows that were read at the same time. It opens the secrets of an action once for all its
 * rows.
 */
export function forwardActions(secrets: SecretBox, now: Date): (row: ActionRow) => ForwardAction {
  const known = new Map<string, ForwardAction>()
  return (row) => {
    const action = known.get(row.actionId) ?? forwardAction(secrets, row, now)
    known.set(row.actionId, action)
    return action
  }
}

/** The action with its secrets opened. For 24 h after a rotation the previous signing secret signs too. */
export function forwardAction(secrets: SecretBox, row: ActionRow, now: Date): ForwardAction {
  const { signingSecret, previousSigningSecret, previousSigningSecretUntil } = row
  const sealed = signingSecret === null ? [] : [signingSecret]
  const inTime = previousSigningSecretUntil !== null && now < previousSigningSecretUntil
  if (signingSecret !== null && previousSigningSecret !== null && inTime) sealed.push(previousSigningSecret)
  return {
    id: row.actionId,
    name: row.actionName,
    url: row.url ?? '',
    appendPath: row.appendPath,
    appendQuery: row.appendQuery,
    signing: {
      scheme: row.signingScheme,
      secrets: sealed.map((secret) => secrets.open(secret, row.workspaceId)),
    },
    auth: forwardAuth(secrets, row),
    tls: tlsIdentity(secrets, row),
    policy: storedPolicy(row.deliveryPolicy),
    isGoverned: row.governed,
  }
}

function forwardAuth(
  secrets: SecretBox,
  { authSettings, authSecrets, workspaceId }: ActionRow,
): ForwardAuth | null {
  if (authSettings === null || authSecrets === null) return null
  return { settings: storedAuth(authSettings), secret: secrets.open(authSecrets, workspaceId) }
}

function tlsIdentity(
  secrets: SecretBox,
  { tlsCertificates, tlsClientKey, workspaceId }: ActionRow,
): TlsIdentity | null {
  if (tlsCertificates === null) return null
  const { clientCertificate, certificateAuthority } = storedTls(tlsCertificates)
  const clientKey = tlsClientKey === null ? null : secrets.open(tlsClientKey, workspaceId)
  return { clientCertificate, clientKey, certificateAuthority }
}
