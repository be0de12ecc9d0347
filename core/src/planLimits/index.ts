export * from './applyPlanLimits.ts'
