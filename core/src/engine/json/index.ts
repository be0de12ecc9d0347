export {
  canonicalJson,
  canonicalText,
  eachJsonDifference,
  type JsonDifference,
  sameDocument,
  sameJson,
  sameNumber,
} from './diff.ts'

export {
  holdsMore,
  holdsTooMuch,
  isLossless,
  isTooDeepToIndent,
  itemTexts,
  memberTexts,
  nestsDeeper,
  plainOf,
} from './native.ts'
export {
  isUnopened,
  MAX_JSON_DEPTH,
  memberCount,
  memberOf,
  membersOf,
  opened,
  parseForLooks,
  parseJson,
  parseLazily,
  SentJson,
  STORED_JSON_DEPTH,
  shownJson,
  writeJson,
} from './parse.ts'
export * from './value.ts'
