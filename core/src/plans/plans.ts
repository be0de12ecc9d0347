import { z } from 'zod'

/** Every number that a plan sets; a switch is a number too: 0 is off. */
export const LIMIT_NAMES = [
  'apiRatePerMinute',
  'apiKeysMax',
  'endpointsMax',
  'retentionDays',
  'captureRatePerMinute',
  'storedRequestsMax',
  'payloadBytesMax',
  'actionsMax',
  'rulesMax',
  'watchdogsMax',
  'alertChannelsMax',
  'parallelAwaitsMax',
  'bulkReplay',
] as const

/** One of {@link LIMIT_NAMES}. */
export type LimitName = (typeof LIMIT_NAMES)[number]
/** The numbers of one plan. The unit is in the name; 0 switches a feature off. */
export type Limits = Readonly<Record<LimitName, number>>

/** The keys of the plans, from the smallest to the largest. */
export const PLAN_KEYS = ['free', 'solo', 'pro', 'team'] as const
/** One of {@link PLAN_KEYS}. */
export type PlanKey = (typeof PLAN_KEYS)[number]

/** What the workspaces on it may use. */
export interface Plan {
  readonly key: PlanKey
  readonly displayName: string
  readonly limits: Limits
}

/** Every plan by its key. */
export type Plans = Readonly<Record<PlanKey, Plan>>

/** The plans as shipped; `CREEL_PLANS_FILE` may lift any number (see {@link overridePlans}). */
export const PLANS: Plans = {
  free: plan('free', 'Free', [0, 0, 3, 3, 60, 100, 262_144, 1, 0, 1, 0, 0, 0]),
  solo: plan('solo', 'Solo', [120, 3, 10, 14, 300, 1_000, 1_048_576, 3, 0, 5, 2, 5, 0]),
  pro: plan('pro', 'Pro', [600, 10, 50, 30, 600, 10_000, 5_242_880, 10, 10, 25, 10, 20, 1]),
  team: plan('team', 'Team', [1200, 50, 200, 90, 1200, 50_000, 10_485_760, 25, 25, 100, 50, 50, 1]),
}

/** `numbers` in the order of {@link LIMIT_NAMES}. */
function plan(key: PlanKey, displayName: string, numbers: readonly number[]): Plan {
  const limit = (name: LimitName) => numbers[LIMIT_NAMES.indexOf(name)] ?? 0
  const limits = Object.fromEntries(LIMIT_NAMES.map((name) => [name, limit(name)])) as Record<
    LimitName,
    number
  >
  return { key, displayName, limits }
}

const Overrides = z.partialRecord(
  z.enum(PLAN_KEYS),
  z.partialRecord(z.enum(LIMIT_NAMES), z.int().min(0).max(2_147_483_647)),
)

/**
 * The shipped plans with an operator's numbers laid over them.
 *
 * @param overrides `{"<plan key>": {"<limit>": number, …}, …}`
 * @throws ZodError naming every unknown plan, unknown limit and bad number
 */
export function overridePlans(overrides: unknown): Plans {
  const numbers = Overrides.parse(overrides)
  const merged = (key: PlanKey): Plan => ({
    ...PLANS[key],
    limits: { ...PLANS[key].limits, ...numbers[key] },
  })
  return { free: merged('free'), solo: merged('solo'), pro: merged('pro'), team: merged('team') }
}

/** The plan of a stored key. A key that this build does not know (a row of a newer version) counts as Free. */
export function planOf(plans: Plans, key: string): Plan {
  const known = PLAN_KEYS.find((planKey) => planKey === key)
  return plans[known ?? 'free']
}
