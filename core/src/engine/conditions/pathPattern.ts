import { DELIVERY_FACTS, HEADER_NAME, MAX_PATH_SEGMENTS, type PathOptions, REQUEST_FACTS } from './paths.ts'

const SEGMENTS =
  '(?:\\.[^.\\[\\]"\\s{}]+|\\[(?:0|-?[1-9][0-9]{0,15})\\]|\\["(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"\\])'
const SEGMENTS_OR_EVERY = SEGMENTS.replace('(?:', '(?:\\[\\*\\]|')

/**
 * The grammar of body paths as a regular expression (ECMA-262), without anchors; `parsePath` decides. The expression
 * also takes some indexes that `parsePath` refuses: those of 16 digits beyond 2^53.
 *
 * @param least the fewest segments after `body`
 */
export function bodyPathPattern({
  every,
  least,
}: {
  readonly every: boolean
  readonly least: number
}): string {
  return `body${every ? SEGMENTS_OR_EVERY : SEGMENTS}{${least},${MAX_PATH_SEGMENTS}}`
}

/** The grammar of header paths as a regular expression, without anchors. */
export const HEADER_PATH_PATTERN = `headers\\.${HEADER_NAME.source.slice(1, -1)}`

/** The grammar of all paths that `parsePath` takes, as an anchored regular expression for JSON Schema. */
export function pathPattern(options: PathOptions): string {
  const facts = options.deliveryFacts ? [...REQUEST_FACTS, ...DELIVERY_FACTS] : REQUEST_FACTS
  const body = bodyPathPattern({ every: options.every, least: 0 })
  const others = [
    body,
    HEADER_PATH_PATTERN,
    'query\\.[\\s\\S]+',
    ...facts.map((fact) => fact.replace('.', '\\.')),
  ]
  return `^(?:${others.join('|')})$`
}
