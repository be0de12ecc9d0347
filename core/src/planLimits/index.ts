export {
  applyChangedPlans,
  applyPlanLimits,
  hasChangedPlans,
  type LimitServices,
  reapplyPlanLimits,
} from './applyPlanLimits.ts'
