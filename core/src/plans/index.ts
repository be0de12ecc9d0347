export { LIMIT_MEANINGS } from './docs.ts'
export {
  LIMIT_NAMES,
  type LimitName,
  type Limits,
  limitsOf,
  overridePlans,
  PLAN_KEYS,
  PLANS,
  type Plan,
  type PlanKey,
  type Plans,
  planOf,
  retentionMs,
  withLimits,
} from './plans.ts'
