import { z } from 'zod'
import { DAY_MS } from '../platform/time/index.ts'

/** The limits of a plan. Switches are numbers, too: 0 is off. */
export const LIMIT_NAMES = [
  'apiRatePerMinute',
  'apiKeysMax',
  'endpointsMax',
  'retentionDays',
  'captureRatePerMinute',
  'captureBytesPerMinute',
  'storedRequestsMax',
  'storedBytesMax',
  'payloadBytesMax',
  'actionsMax',
  'rulesMax',
  'watchdogsMax',
  'alertChannelsMax',
  'parallelAwaitsMax',
  'bulkReplay',
  'eventSubscriptionsMax',
  'eventsPerMinuteMax',
] as const

export type LimitName = (typeof LIMIT_NAMES)[number]

/** Meanings of the limits, as documents and answers give them. */
export const LIMIT_MEANINGS: Readonly<Record<LimitName, string>> = {
  apiRatePerMinute: 'API calls per minute of this key',
  apiKeysMax: 'Active keys of the workspace',
  endpointsMax: 'Endpoints of the workspace',
  retentionDays: 'Days for which a captured request is kept',
  captureRatePerMinute: 'Captures per minute and endpoint',
  captureBytesPerMinute:
    'Bytes of bodies that an endpoint captures in a minute; the capture that passes it is the last',
  storedRequestsMax: 'Stored requests of an endpoint; beyond it the oldest are evicted',
  storedBytesMax:
    'Bytes of stored requests and their attempts, heads included, in the workspace; beyond it the oldest are evicted',
  payloadBytesMax: 'Body of a capture; of a longer one only a prefix is kept',
  actionsMax: 'Actions of an endpoint',
  rulesMax: 'Transformation rules of a destination; 0: not in the plan',
  watchdogsMax: 'Watchdogs of the workspace',
  alertChannelsMax: 'Alert channels of the workspace; 0: not in the plan',
  parallelAwaitsMax: 'Awaits of this key that run at once',
  bulkReplay: '1 when bulk replay is in the plan, else 0',
  eventSubscriptionsMax: 'Event subscriptions of the workspace; 0: not in the plan',
  eventsPerMinuteMax: 'Events that one subscription is sent in a minute; further ones wait',
}

/** The numbers of one plan. The unit is in the name; 0 switches a feature off. */
export type Limits = Readonly<Record<LimitName, number>>

/** The keys of the plans, from the smallest to the largest. */
export const PLAN_KEYS = ['free', 'solo', 'pro', 'team', 'self-hosted'] as const
export type PlanKey = (typeof PLAN_KEYS)[number]

export interface Plan {
  readonly key: PlanKey
  readonly displayName: string
  readonly limits: Limits
}

export type Plans = Readonly<Record<PlanKey, Plan>>

const MIB = 1_048_576
const GIB = 1024 * MIB
/** Stands for no limit: more than one machine can hold or serve, and an integer in every language. */
const ALL = 1_000_000_000
/** No limit for captures in a minute: more than a million a second. */
const ALL_CAPTURES = 100_000_000
/** No limit for bytes: nine petabytes. */
const ALL_BYTES = 9_000_000_000_000_000
/**
 * Largest body that a process accepts, regardless of its plan. It fits into the memory that one endpoint, and one
 * address, may use.
 */
const BODY_BYTES_MAX = 60 * MIB

/** A limit's number in each plan, in the order of {@link PLAN_KEYS}. */
const NUMBERS: Readonly<Record<LimitName, readonly [number, number, number, number, number]>> = {
  apiRatePerMinute: [0, 120, 600, 1200, ALL],
  apiKeysMax: [0, 3, 10, 50, ALL],
  endpointsMax: [3, 10, 50, 10_000, ALL],
  retentionDays: [3, 14, 30, 90, ALL],
  captureRatePerMinute: [60, 300, 600, 60_000, ALL_CAPTURES],
  // At least the captures of a minute, each with the plan's largest body.
  captureBytesPerMinute: [16 * MIB, 320 * MIB, 3 * GIB, 1536 * GIB, ALL_BYTES],
  storedRequestsMax: [100, 1000, 10_000, 1_000_000, ALL],
  storedBytesMax: [64 * MIB, GIB, 20 * GIB, 1024 * GIB, ALL_BYTES],
  payloadBytesMax: [MIB / 4, MIB, 5 * MIB, 25 * MIB, BODY_BYTES_MAX],
  actionsMax: [1, 3, 10, 25, ALL],
  rulesMax: [0, 0, 10, 25, ALL],
  watchdogsMax: [1, 5, 25, 100, ALL],
  alertChannelsMax: [0, 2, 10, 50, ALL],
  parallelAwaitsMax: [0, 5, 20, 50, ALL],
  bulkReplay: [0, 0, 1, 1, 1],
  eventSubscriptionsMax: [0, 5, 50, 500, ALL],
  eventsPerMinuteMax: [0, 30, 60, 300, ALL],
}

const DISPLAY_NAMES: Readonly<Record<PlanKey, string>> = {
  free: 'Free',
  solo: 'Solo',
  pro: 'Pro',
  team: 'Team',
  'self-hosted': 'Self-hosted',
}

/** The plans as shipped; `CREEL_PLANS_FILE` may change any number (see {@link overridePlans}). */
export const PLANS: Plans = {
  free: shipped('free'),
  solo: shipped('solo'),
  pro: shipped('pro'),
  team: shipped('team'),
  'self-hosted': shipped('self-hosted'),
}

function shipped(key: PlanKey): Plan {
  const column = PLAN_KEYS.indexOf(key)
  return { key, displayName: DISPLAY_NAMES[key], limits: limitsOf((name) => NUMBERS[name][column] ?? 0) }
}

/** A value for each limit, in the order of {@link LIMIT_NAMES}. */
export function limitsOf<Value>(value: (name: LimitName) => Value): Readonly<Record<LimitName, Value>> {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, value(name)])) as Record<LimitName, Value>
}

/** Limits in bytes. All others are counts, which are 32-bit integers in the database. */
const BYTE_LIMITS: ReadonlySet<string> = new Set<LimitName>(['captureBytesPerMinute', 'storedBytesMax'])
const COUNT_MAX = 2_147_483_647

const Overrides = z.partialRecord(
  z.enum(PLAN_KEYS),
  z.partialRecord(z.enum(LIMIT_NAMES), z.int().min(0)).superRefine((limits, context) => {
    for (const [name, value] of Object.entries(limits)) {
      if (value <= COUNT_MAX || BYTE_LIMITS.has(name)) continue
      context.addIssue({ code: 'custom', path: [name], message: `must be at most ${COUNT_MAX}` })
    }
  }),
)

/**
 * The shipped plans, overridden by an operator's numbers.
 *
 * @param overrides `{"<plan key>": {"<limit>": number, …}, …}`
 * @throws ZodError naming every unknown plan, unknown limit and bad number
 */
export function overridePlans(overrides: unknown): Plans {
  const numbers = Overrides.parse(overrides)
  return withLimits((key) => numbers[key] ?? {})
}

/**
 * The shipped plans, overridden by other numbers, plan by plan. A `payloadBytesMax` above the process's limit is
 * reduced to it. A `captureBytesPerMinute` that is not overridden is raised to what captures of full size need.
 */
export function withLimits(numbersOf: (key: PlanKey) => Partial<Limits>): Plans {
  const merged = (key: PlanKey): Plan => {
    const numbers = numbersOf(key)
    const limits = { ...PLANS[key].limits, ...numbers }
    const payloadBytesMax = Math.min(limits.payloadBytesMax, BODY_BYTES_MAX)
    const fullBytes = Math.min(limits.captureRatePerMinute * payloadBytesMax, Number.MAX_SAFE_INTEGER)
    const captureBytesPerMinute =
      numbers.captureBytesPerMinute ?? Math.max(limits.captureBytesPerMinute, fullBytes)
    return { ...PLANS[key], limits: { ...limits, payloadBytesMax, captureBytesPerMinute } }
  }
  return {
    free: merged('free'),
    solo: merged('solo'),
    pro: merged('pro'),
    team: merged('team'),
    'self-hosted': merged('self-hosted'),
  }
}

/** A century; JavaScript cannot express dates much further away. */
const RETENTION_DAYS_MAX = 36_500

/** Retention of captures in milliseconds: a century at most, regardless of the plan's number. */
export function retentionMs({ retentionDays }: Pick<Limits, 'retentionDays'>): number {
  return Math.min(retentionDays, RETENTION_DAYS_MAX) * DAY_MS
}

/** The plan of a stored key. A key that this build does not know (from a newer version) is treated as Free. */
export function planOf(plans: Plans, key: string): Plan {
  const known = PLAN_KEYS.find((planKey) => planKey === key)
  return plans[known ?? 'free']
}
