export { canonicalJson, significand } from './canonical.ts'
export { eachJsonDifference, type JsonDifference, sameJson, sameNumber } from './diff.ts'

export { nestsDeeper, parseForLooks } from './native.ts'
export {
  isUnopened,
  MAX_JSON_DEPTH,
  memberCount,
  memberOf,
  membersOf,
  memberText,
  opened,
  parseJson,
  parseLazily,
  shownJson,
  writeJson,
} from './parse.ts'
export * from './value.ts'
