import { type AnyJson, isJsonArray, isJsonNumber, isNumberText, memberOf } from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import { asText, nameOf } from '../language/values.ts'
import { define, defineRepeated, parameter } from './define.ts'
import { INTEGER, JSON_VALUE, LIST_OR_NULL, NUMBER } from './parameters.ts'

const list = parameter('list', LIST_OR_NULL)

/** Functions of rules for lists, objects and choices between values. */
export const LIST_FUNCTIONS = {
  coalesce: defineRepeated(
    'any',
    parameter('a', JSON_VALUE),
    'The first argument that is neither missing nor null; null when all are.',
    (all) => all.find((value) => value !== null) ?? null,
  ),
  get: define(
    'any',
    [parameter('x', JSON_VALUE), parameter('key', JSON_VALUE)],
    'The member of an object by name, or the element of a list by index (negative from the end); null when absent.',
    ([value, key]) => memberAt(value, key),
  ),
  first: define(
    'any',
    [list],
    'The first element; null when there is none.',
    ([items]) => items?.[0] ?? null,
  ),
  last: define(
    'any',
    [list],
    'The last element; null when there is none.',
    ([items]) => items?.at(-1) ?? null,
  ),
  count: define(
    'number',
    [list],
    'How many elements there are; 0 for null.',
    ([items]) => items?.length ?? 0,
  ),
}

function memberAt(value: AnyJson, key: AnyJson): AnyJson {
  if (value === null) return null
  if (isJsonArray(value)) return isIndex(key) ? (value.at(INTEGER.read(key)) ?? null) : null
  if (typeof value === 'object' && !isJsonNumber(value)) return memberOf(value, asText(key)) ?? null
  throw new Fault('type', `get reads an object or a list, not ${nameOf(value)}.`)
}

/** False for a name, a fraction and null, under which a list has no element. */
function isIndex(key: AnyJson): boolean {
  if (key === null || (typeof key === 'string' && !isNumberText(key))) return false
  return NUMBER.read(key).isInteger()
}
