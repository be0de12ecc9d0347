export { decodeRule, sameDocument, storedRule } from './language/decode.ts'
export { ruleJsonSchema, STEP_OPS } from './language/document.ts'
export { FAULT_CODES, type FaultCode } from './language/fault.ts'
export { opsTakingOut, type Rule } from './language/rule.ts'
