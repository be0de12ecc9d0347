export {
  applyChangedPlans,
  applyPlanLimits,
  type LimitServices,
  reapplyPlanLimits,
} from './applyPlanLimits.ts'
