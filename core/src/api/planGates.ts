import type { Limits, Plan } from '../plans/index.ts'
import { DomainError } from './errors.ts'

/** Features that a plan may lack, each with the limit that switches it. */
const FEATURES = {
  endpoints: { limit: 'endpointsMax', words: 'endpoints' },
  actions: { limit: 'actionsMax', words: 'actions' },
  watchdogs: { limit: 'watchdogsMax', words: 'watchdogs' },
  transformations: { limit: 'rulesMax', words: 'transformation rules' },
  bulkReplay: { limit: 'bulkReplay', words: 'bulk replay' },
  alertChannels: { limit: 'alertChannelsMax', words: 'alert channels' },
  eventSubscriptions: { limit: 'eventSubscriptionsMax', words: 'event subscriptions' },
} as const satisfies Record<string, { limit: keyof Limits; words: string }>

/** A feature that a plan may lack: a key of {@link FEATURES}. */
export type Feature = keyof typeof FEATURES

export function hasFeature(plan: Plan, feature: Feature): boolean {
  return plan.limits[FEATURES[feature].limit] > 0
}

/** @throws DomainError `feature_not_in_plan` when the plan lacks the feature */
export function requireFeature(plan: Plan, feature: Feature): void {
  if (!hasFeature(plan, feature)) throw notInPlan(plan, FEATURES[feature].words)
}

const notInPlan = ({ displayName }: Plan, words: string) =>
  new DomainError('feature_not_in_plan', `The ${displayName} plan has no ${words}.`)

/**
 * Refuses one more of something that is counted.
 *
 * @param count how many count against the limit now
 * @param noun plural, as the client knows it: `endpoints`
 * @throws DomainError `limit_reached` at the limit; `feature_not_in_plan` when the limit is 0
 */
export function requireRoom(plan: Plan, limit: keyof Limits, count: number, noun: string): void {
  const max = plan.limits[limit]
  if (max === 0) throw notInPlan(plan, noun)
  if (count >= max) {
    throw new DomainError('limit_reached', `The ${plan.displayName} plan has room for ${max} ${noun}.`)
  }
}
