export { machineStopwatch } from './meter.ts'
export {
  type FaultReport,
  type RuleReport,
  type RunInput,
  type RunResult,
  type RunRule,
  runRules,
  runRulesInSteps,
  type StepReport,
  type TransformedRequest,
} from './run.ts'
