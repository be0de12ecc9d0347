import type { z } from 'zod'
import type { ChannelState } from '../alertChannels/index.ts'
import { hasFeature } from '../api/planGates.ts'
import { storedPolicy } from '../deliveries/index.ts'
import { describeCondition, storedCondition } from '../engine/conditions/index.ts'
import { shownJson } from '../engine/json/index.ts'
import type { Plan } from '../plans/index.ts'
import { authView } from './auth.ts'
import type { ActionRow } from './queries.ts'
import type { Action, ActionKind, ActionList } from './schema.ts'
import { tlsView } from './tls.ts'

/** Converts a row to the API's shape, without its secrets. */
export function actionView(row: ActionRow, channels: readonly ChannelState[]): z.input<typeof Action> {
  const channel = channels.find(({ id }) => id === row.alertChannelId)
  const isSigned = row.signingSecret !== null
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    position: row.position,
    url: row.url,
    appendPath: row.appendPath,
    appendQuery: row.appendQuery,
    isActive: row.isActive,
    suspendedByPlan: row.suspendedByPlan,
    condition: shownJson(row.condition),
    conditionDescription: describeCondition(storedCondition(row.condition)),
    signing: {
      scheme: row.signingScheme,
      signed: isSigned,
      setAt: isSigned ? row.signingSecretSetAt : null,
    },
    auth: authView(row),
    tls: tlsView(row),
    pausedAt: row.pausedAt,
    delivery: row.deliveryPolicy === null ? null : storedPolicy(row.deliveryPolicy),
    ruleCount: row.ruleCount,
    alertChannelId: row.alertChannelId,
    alertChannelName: channel?.name ?? null,
    messageTemplate: row.messageTemplate,
    channelUnavailable: row.kind === 'notify' && channel?.isAvailable !== true,
    apiRequestId: null,
    apiRequestName: null,
    slotMapping: {},
    requestUnavailable: false,
  }
}

export function kindsOf(plan: Plan): ActionKind[] {
  return hasFeature(plan, 'alertChannels') ? ['forward', 'notify'] : ['forward']
}

/** Converts the actions of an endpoint to the API's list, with the options for new ones. */
export function actionListView(
  rows: readonly ActionRow[],
  channels: readonly ChannelState[],
  plan: Plan,
): z.input<typeof ActionList> {
  const { actionsMax, alertChannelsMax } = plan.limits
  return {
    actions: rows.map((row) => actionView(row, channels)),
    limit: actionsMax,
    canAddMore: rows.length < actionsMax,
    options: {
      kinds: kindsOf(plan),
      channels: channels.map(({ isAvailable: _a, destination: _d, ...option }) => option),
      canCreateChannel: channels.length < alertChannelsMax,
      planName: plan.displayName,
    },
  }
}
