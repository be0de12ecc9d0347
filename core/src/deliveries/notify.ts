import { type ChannelState, listChannelStates, queueNotifies, renderMessage } from '../alertChannels/index.ts'
import type { Services, Urls } from '../api/services.ts'
import { requestRoot } from '../engine/conditions/index.ts'
import { parseTemplate } from '../engine/templates/index.ts'
import { planOf } from '../plans/index.ts'
import { type Trx, valuesOf } from '../platform/db/index.ts'
import { keyOfRow } from '../platform/secrets/index.ts'
import { storedRequest } from '../requests/index.ts'
import { deliveryFacts } from '../transformations/index.ts'
import type { Attempt } from './attempt.ts'
import type { DueRow } from './dueAttempts.ts'
import { removeDeliveries } from './queries.ts'

/** The channel of each notify row, if it still exists. Takes one read for each workspace. */
export async function channelsOf(
  services: Pick<Services, 'secrets' | 'plans'>,
  trx: Trx,
  rows: readonly DueRow[],
): Promise<Map<DueRow, ChannelState>> {
  const found = new Map<DueRow, ChannelState>()
  const notifies = rows.filter(({ kind }) => kind === 'notify')
  for (const [workspaceId, group] of Map.groupBy(notifies, (row) => row.workspaceId)) {
    const plan = planOf(services.plans, group[0]?.plan ?? '')
    const channels = await listChannelStates({ db: trx, secrets: services.secrets }, workspaceId, plan)
    for (const row of group) {
      const channel = channels.find(({ id }) => id === row.alertChannelId)
      if (channel !== undefined) found.set(row, channel)
    }
  }
  return found
}

/** A notify attempt whose Pending row is written, and whose channel can be sent to. */
export interface NotifyAttempt extends DueRow {
  readonly id: number
  readonly channel: ChannelState
}

/**
 * Hands notify attempts to the outbox of alerts and removes their deliveries. The sends, their retries and the ends of
 * the attempt rows belong to the outbox.
 */
export async function startNotifies(
  services: Pick<Services, 'clock' | 'enqueue' | 'urls' | 'secrets'>,
  trx: Trx,
  notifies: readonly NotifyAttempt[],
): Promise<void> {
  const messages = notifies.map((notify) =>
    notifyMessage(services.urls, {
      ...notify,
      endpoint: { id: notify.endpointId, name: notify.endpointName, captureId: notify.captureId },
      request: storedRequest(notify),
      action: { id: notify.actionId, name: notify.actionName, messageTemplate: notify.messageTemplate },
      attemptId: notify.id,
      sealing: keyOfRow(notify),
    }),
  )
  await queueNotifies(services, trx, messages)
  await removeDeliveries(trx, valuesOf(notifies, 'deliveryId'))
}

interface NotifyFacts
  extends Pick<Attempt, 'workspaceId' | 'endpoint' | 'requestId' | 'request' | 'sealing'> {
  readonly action: { readonly id: string; readonly name: string; readonly messageTemplate: string | null }
  readonly channel: ChannelState
  readonly attemptId: number
}

/** The message for the outbox, with the template rendered in the channel's markup. */
export function notifyMessage(urls: Urls, facts: NotifyFacts) {
  const { workspaceId, endpoint, requestId, request, action, channel, attemptId, sealing } = facts
  const root = requestRoot(request, deliveryFacts(urls, facts))
  const parsed = parseTemplate(action.messageTemplate ?? '')
  return {
    workspaceId,
    subject: { id: action.id, name: action.name },
    endpoint: { id: endpoint.id, name: endpoint.name },
    requestId,
    channel,
    attemptId,
    sealing,
    // A stored template was valid when it was saved.
    reason: 'template' in parsed ? renderMessage(parsed.template, root, channel.kind) : '',
  }
}
