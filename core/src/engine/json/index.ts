export {
  canonicalJson,
  canonicalText,
  eachJsonDifference,
  type JsonDifference,
  sameDocument,
  sameJson,
  sameNumber,
  significand,
} from './diff.ts'

export { holdsTooMuch, isLossless, isTooDeepToIndent, nestsDeeper, parseForLooks, plainOf } from './native.ts'
export {
  isUnopened,
  MAX_JSON_DEPTH,
  memberCount,
  memberOf,
  membersOf,
  opened,
  parseJson,
  parseLazily,
  SentJson,
  shownJson,
  writeJson,
} from './parse.ts'
export * from './value.ts'
