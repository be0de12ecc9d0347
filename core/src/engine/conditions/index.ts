export * from './condition.ts'
export { ConditionSet } from './conditionSet.ts'
export { describeCondition } from './describe.ts'
export { holds, holdsInSteps, looksOf, matches, mayHoldInSteps } from './evaluate.ts'
export { type Instant, millisecondsOf, parseInstant, parseRfc3339 } from './leafValue.ts'
export {
  ALWAYS,
  CONDITION_GRAMMAR,
  ConditionDocument,
  parseCondition,
  parseConditionJson,
  readCondition,
  storedCondition,
} from './parse.ts'
export { bodyPathPattern, HEADER_PATH_PATTERN, pathPattern } from './pathPattern.ts'
export {
  EVERY,
  HEADER_NAME,
  MAX_PATH_LENGTH,
  type Path,
  type PathProblem,
  parsePath,
  type Segment,
  segmentIn,
} from './paths.ts'
export {
  mayBeEvery,
  pathsOf,
  readValue,
  someValue,
  unmatchedPaths,
  unmatchedPathsInSteps,
  unmatchedWords,
} from './read.ts'
export { type DeliveryFacts, queryReader, type ReadRoot, requestRoot } from './readRoot.ts'
export { findText } from './textSearch.ts'
