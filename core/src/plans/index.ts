export {
  LIMIT_NAMES,
  type LimitName,
  type Limits,
  overridePlans,
  PLAN_KEYS,
  PLANS,
  type Plan,
  type PlanKey,
  type Plans,
  planOf,
} from './plans.ts'
