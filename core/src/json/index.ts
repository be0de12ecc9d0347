export { canonicalJson, significand } from './canonical.ts'
export { sameJson, sameNumber } from './compare.ts'
export { memberOf, membersOf, type Node, writeJson } from './nodes.ts'
export { MAX_JSON_DEPTH, memberText, parseJson, shownJson } from './parse.ts'
export {
  fromPlain,
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  isNumberText,
  type JsonArray,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  type MutableJson,
  numberFromText,
  numberText,
  toPlain,
} from './value.ts'
