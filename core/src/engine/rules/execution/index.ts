export {
  type FaultReport,
  type RuleReport,
  type RunInput,
  type RunResult,
  type RunRule,
  runRules,
  type StepReport,
  type TransformedRequest,
} from './run.ts'
