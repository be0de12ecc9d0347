import { type Path, parsePath } from '../conditions/index.ts'
import { isJsonNumber, type Node, numberText } from '../json/index.ts'
import { asRead, type CapturedRequest } from '../message/index.ts'
import { valueAt } from '../verification/index.ts'

/** The most columns of an endpoint. */
export const COLUMNS_MAX = 3

/** The most characters of a value that are kept. */
const VALUE_CHARACTERS_MAX = 80

/** A value of the body that lists of requests show. */
export interface Column {
  /** The path as its endpoint has it. */
  readonly text: string
  readonly path: Path
}

/** Reads a path to one value within a body. */
export function parseColumn(text: string): ReturnType<typeof parsePath> {
  const parsed = parsePath(text, { every: false, deliveryFacts: false })
  if ('problem' in parsed || (parsed.path.root === 'body' && parsed.path.segments.length > 0)) return parsed
  return {
    problem: {
      code: 'bad_path',
      reason: `${JSON.stringify(text)} names no value of a body: use body.<name>.`,
    },
  }
}

/** The columns that an endpoint has stored, as JSON. */
export function storedColumns(text: string): Column[] {
  const paths: readonly string[] = text === '[]' ? [] : JSON.parse(text)
  return paths.flatMap((path) => {
    const parsed = parseColumn(path)
    return 'path' in parsed ? [{ text: path, path: parsed.path }] : []
  })
}

/**
 * The values of columns in a request, as JSON by their paths: the beginning of texts, numbers with all their digits, and
 * booleans. Objects, lists and absent values are left out.
 *
 * @returns null without any
 */
export function columnValues(columns: readonly Column[], captured: CapturedRequest): string | null {
  if (columns.length === 0) return null
  const request = asRead(captured)
  const values = columns.flatMap(({ path, text }) => {
    const value = valueText(valueAt(path, request))
    return value === null ? [] : [[text, value] as const]
  })
  return values.length === 0 ? null : JSON.stringify(Object.fromEntries(values))
}

function valueText(value: Node): string | null {
  if (isJsonNumber(value)) return numberText(value).slice(0, VALUE_CHARACTERS_MAX)
  if (typeof value === 'string')
    return [...value.slice(0, 2 * VALUE_CHARACTERS_MAX)].slice(0, VALUE_CHARACTERS_MAX).join('')
  return typeof value === 'boolean' ? String(value) : null
}
