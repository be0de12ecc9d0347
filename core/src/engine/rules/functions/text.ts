import { findText } from '../../conditions/index.ts'
import { type AnyJson, isJsonArray, memberCount, parseJson, writeJson } from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'
import { asText, nameOf, type Value } from '../language/values.ts'
import { boundedText, define, defineRepeated, optional, parameter, tooLarge } from './define.ts'
import { ANY, INTEGER, JSON_VALUE, LIST, NUMBER, TEXT, toNumber } from './parameters.ts'

const s = parameter('s', TEXT)

/** Functions of rules for text, and for conversions to and from it; a result over 1 MiB is a fault. */
export const TEXT_FUNCTIONS = {
  concat: defineRepeated(
    'text',
    parameter('a', ANY),
    'The texts of all arguments, one after another; null is "".',
    concat,
  ),
  lower: define('text', [s], 'The text in lower case.', ([text]) => text.toLowerCase()),
  upper: define('text', [s], 'The text in upper case.', ([text]) => text.toUpperCase()),
  trim: define('text', [s], 'The text without white space around it.', ([text]) => text.trim()),
  replace: define(
    'text',
    [s, parameter('find', TEXT), parameter('with', TEXT)],
    'Every occurrence of `find`, taken literally, becomes `with`; an empty `find` changes nothing.',
    ([text, find, substitute], { tick }) => replaceAll(text, find, substitute, tick),
  ),
  substring: define(
    'text',
    [s, parameter('start', INTEGER), optional('len', INTEGER, Number.POSITIVE_INFINITY, 'the rest')],
    'A part of the text, in code points; a negative `start` counts from the end, `len` of 0 or less gives "".',
    ([text, start, length]) => substring(text, start, length),
  ),
  split: define(
    'list',
    [s, parameter('sep', TEXT)],
    'The parts between every `sep`, at most 1000; an empty `sep` faults.',
    ([text, separator]) => {
      if (separator === '') throw new Fault('type', 'A text cannot be split by "".')
      return parts(text, separator)
    },
  ),
  join: define(
    'text',
    [parameter('list', LIST), parameter('sep', TEXT)],
    'The texts of all elements with `sep` between them.',
    ([list, separator]) => joined(list.map(asText), separator),
  ),
  padStart: define(
    'text',
    [s, parameter('len', INTEGER), parameter('ch', TEXT)],
    'The text with `ch` repeated before it until it is `len` code points long, at most 200.',
    ([text, length, fill]) => padStart(text, length, fill),
  ),
  length: define(
    'number',
    [parameter('x', JSON_VALUE)],
    'Code points of a text, elements of a list, members of an object.',
    ([value]) => lengthOf(value),
  ),
  toText: define('text', [s], 'A text, number or boolean as text; null is "".', ([text]) => text),
  toNumber: define(
    'number',
    [parameter('x', NUMBER)],
    'A number, or text that is strictly one; all else faults.',
    ([number]) => toNumber(number),
  ),
  toBoolean: define(
    'boolean',
    [parameter('x', JSON_VALUE)],
    'true, false or their text; all else faults.',
    ([value]) => {
      if (value === true || value === 'true') return true
      if (value === false || value === 'false') return false
      throw new Fault('type', `true, false or their text is needed here, not ${nameOf(value)}.`)
    },
  ),
  parseJson: define(
    'any',
    [s],
    'The value that a JSON text holds, digits of numbers kept; faults on bad JSON.',
    ([text]) => {
      const read = parseJson(boundedText(text))
      if (read === undefined) throw new Fault('bad_json', 'The text is not JSON, or nests too deep.')
      return read.value
    },
  ),
  toJson: define('text', [parameter('x', JSON_VALUE)], 'The value as compact JSON text.', ([value]) =>
    writeJson(value),
  ),
}

function concat(values: readonly Value[]): Value {
  if (!values.some((value) => value instanceof Uint8Array)) return joined(values.map(asText), '')
  const parts = values.map((value) => (value instanceof Uint8Array ? value : Buffer.from(asText(value))))
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length > RUN_LIMITS.outputBytes + RUN_LIMITS.textBytes) throw tooLarge()
  return Buffer.concat(parts)
}

/** Adds up the lengths first, so that a result that is too large is never built. */
function joined(texts: readonly string[], separator: string): string {
  let length = separator.length * Math.max(0, texts.length - 1)
  for (const text of texts) length += text.length
  if (length > RUN_LIMITS.textBytes) throw tooLarge()
  return texts.join(separator)
}

function replaceAll(text: string, find: string, substitute: string, tick: () => void): string {
  if (find === '') return text
  let result = ''
  let from = 0
  for (;;) {
    tick()
    const at = findText(text, find, from)
    result += text.slice(from, at === -1 ? text.length : at)
    if (result.length > RUN_LIMITS.textBytes) throw tooLarge()
    if (at === -1) return result
    result += substitute
    from = at + find.length
  }
}

function parts(text: string, separator: string): string[] {
  const most = RUN_LIMITS.listParts
  const found: string[] = []
  let from = 0
  for (;;) {
    if (found.length >= most) throw new Fault('too_large', `The list would have more than ${most} parts.`)
    const at = findText(text, separator, from)
    if (at === -1) return [...found, text.slice(from)]
    found.push(text.slice(from, at))
    from = at + separator.length
  }
}

const SURROGATE = /[\ud800-\udfff]/

function substring(text: string, start: number, length: number): string {
  // Without surrogates a code point is one unit, and the text need not be split.
  const characters = SURROGATE.test(text) ? [...text] : null
  const size = characters?.length ?? text.length
  const from = start < 0 ? Math.max(0, size + start) : Math.min(start, size)
  const to = Math.min(size, from + Math.max(0, length))
  return characters === null ? text.slice(from, to) : characters.slice(from, to).join('')
}

function padStart(text: string, length: number, fill: string): string {
  if (length > RUN_LIMITS.padLength)
    throw new Fault('too_large', `padStart pads to at most ${RUN_LIMITS.padLength}.`)
  const missing = length - codePoints(text)
  if (missing <= 0 || fill === '') return text
  const unit = [...fill]
  return Array.from({ length: missing }, (_, index) => unit[index % unit.length]).join('') + text
}

function lengthOf(value: AnyJson): number {
  if (isJsonArray(value)) return value.length
  return memberCount(value) ?? codePoints(asText(value))
}

function codePoints(text: string): number {
  if (!SURROGATE.test(text)) return text.length
  let count = 0
  for (const _character of text) count += 1
  return count
}
