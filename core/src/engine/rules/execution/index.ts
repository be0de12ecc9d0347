export { machineStopwatch } from './meter.ts'
export {
  type RuleReport,
  type RunInput,
  type RunResult,
  type RunRule,
  runRules,
  runRulesInSteps,
  type TransformedRequest,
} from './run.ts'
