import {
  eachJsonDifference,
  type JsonDifference,
  type JsonValue,
  parseJson,
  toPlain,
  writeJson,
} from '../engine/json/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { DIFFERENCES_MAX } from './declarations.ts'
import type { Difference, Outcome } from './schema.ts'

/** An answer of a receiver, or the reason why there is none. */
export interface Answer {
  /** Null without an answer. */
  readonly statusCode: number | null
  /** Null if they were not kept. */
  readonly headers: readonly WireHeader[] | null
  /** Null if it was not kept whole. */
  readonly body: Uint8Array | null
  readonly durationMs: number | null
  readonly error: string | null
}

/** The outcome of one send beside its baseline. */
export interface Comparison {
  readonly outcome: Outcome
  readonly differences: readonly Difference[]
}

/** Headers that differ from answer to answer and say nothing about the handler. */
const VOLATILE_HEADERS: ReadonlySet<string> = new Set([
  'age',
  'cf-ray',
  'connection',
  'date',
  'etag',
  'keep-alive',
  'request-id',
  'server-timing',
  'set-cookie',
  'traceparent',
  'transfer-encoding',
  'x-amzn-requestid',
  'x-amzn-trace-id',
  'x-request-id',
  'x-response-time',
  'x-runtime',
])

/** An answer is slower if it took so many times as long, and so many milliseconds more. */
const SLOWER = { times: 2, byMs: 100 } as const

/**
 * Compares an answer with its baseline: status, headers and body, by their members if both bodies are JSON.
 *
 * @param ignored paths that may differ, like `headers.date` or `body.items[].id`; a path covers what lies below it
 * @returns `failed` if there is no answer, or a 5xx where the baseline has none; else `changed` if anything differs;
 *   else `slower` if it took over twice as long and 100 ms more; else `equal`. Undefined if nothing differs, but headers
 *   or body of one was not kept.
 */
export function compareAnswers(
  baseline: Answer,
  answer: Answer,
  ignored: readonly string[],
): Comparison | undefined {
  const isIgnored = ignoring(ignored)
  const differences: Difference[] = []
  eachDifference(baseline, answer, (found) => {
    if (!isIgnored(found.path)) differences.push(shownDifference(found))
    return differences.length < DIFFERENCES_MAX
  })
  const isFailure = ({ statusCode }: Answer) => statusCode === null || statusCode >= 500
  if (isFailure(answer) && !isFailure(baseline)) return { outcome: 'failed', differences }
  if (differences.length > 0) return { outcome: 'changed', differences }
  const isUnknown = (part: 'headers' | 'body') =>
    (baseline[part] === null || answer[part] === null) && !isIgnored(part)
  if (isUnknown('headers') || isUnknown('body')) return undefined
  const [before, after] = [baseline.durationMs, answer.durationMs]
  const isSlower =
    before !== null && after !== null && after > before * SLOWER.times && after > before + SLOWER.byMs
  return { outcome: isSlower ? 'slower' : 'equal', differences: [] }
}

/** Enough for any answer, and a bound for those that differ everywhere. */
const UNSTABLE_MAX = 1000

/** Paths that differ between two answers to the same request: their values are not stable. */
export function unstablePaths(first: Answer, second: Answer): readonly string[] {
  const paths = new Set<string>()
  eachDifference(first, second, ({ path }) => paths.add(ofEveryItem(path)).size < UNSTABLE_MAX)
  return [...paths]
}

/** Passes every difference of two answers to `found`, until it returns false. */
function eachDifference(
  before: Answer,
  after: Answer,
  found: (difference: JsonDifference) => boolean,
): boolean {
  if (before.statusCode !== after.statusCode)
    if (!found({ path: 'status', before: before.statusCode, after: after.statusCode })) return false
  if (before.error !== after.error && (before.statusCode === null || after.statusCode === null))
    if (!found({ path: 'error', before: before.error, after: after.error })) return false
  // The lengths follow from the bodies, where those are known.
  const isLengthCompared = before.body === null && after.body === null
  const [oldHeaders, newHeaders] = [headersOf(before, isLengthCompared), headersOf(after, isLengthCompared)]
  const areKept = oldHeaders !== null && newHeaders !== null
  if (areKept && !eachJsonDifference('headers', oldHeaders, newHeaders, found)) return false
  return before.body === null || after.body === null || eachOfBodies(before.body, after.body, found)
}

/** Values by name in lower case: one, or a list. Null if they were not kept. */
function headersOf({ headers }: Answer, withLength: boolean): ReadonlyMap<string, JsonValue> | null {
  if (headers === null) return null
  const byName = new Map<string, string | string[]>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (VOLATILE_HEADERS.has(key) || (key === 'content-length' && !withLength)) continue
    const known = byName.get(key)
    if (Array.isArray(known)) known.push(value)
    else byName.set(key, known === undefined ? value : [known, value])
  }
  return byName
}

function eachOfBodies(
  before: Uint8Array,
  after: Uint8Array,
  found: (difference: JsonDifference) => boolean,
): boolean {
  if (Buffer.compare(before, after) === 0) return true
  const [one, two] = [jsonOf(before), jsonOf(after)]
  return one === undefined || two === undefined
    ? found({ path: 'body', before: excerpt(before), after: excerpt(after) })
    : eachJsonDifference('body', one.value, two.value, found)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A body that is not JSON, or nests too deep, is compared as a whole. */
function jsonOf(body: Uint8Array): { readonly value: JsonValue } | undefined {
  try {
    return parseJson(utf8.decode(body))
  } catch {
    return undefined
  }
}

const EXCERPT_CHARACTERS = 500

const excerpt = (body: Uint8Array): string =>
  Buffer.from(body).toString('utf8').slice(0, EXCERPT_CHARACTERS).toWellFormed()

/** A difference as a report shows it. */
function shownDifference({ path, before, after }: JsonDifference): Difference {
  return {
    path: path.slice(0, EXCERPT_CHARACTERS).toWellFormed(),
    before: shown(before),
    after: shown(after),
    missing: before === undefined ? 'before' : after === undefined ? 'after' : null,
  }
}

function shown(value: JsonValue | undefined): unknown {
  if (value === undefined) return null
  const text = writeJson(value)
  return text.length <= EXCERPT_CHARACTERS
    ? toPlain(value)
    : `${text.slice(0, EXCERPT_CHARACTERS).toWellFormed()}…`
}

/** Whether a text is a path that {@link compareAnswers} can ignore. */
export function isComparedPath(text: string): boolean {
  return /^(?:status|error|headers(?:\.[^\s.[\]]+)?|body(?:\[\d*\])*(?:\..+)?)$/s.test(text)
}

/** Tells the paths that are named, or lie below one that is. `[]` in a name stands for every item. */
function ignoring(paths: readonly string[]): (path: string) => boolean {
  const named = paths.map((path) => (path.startsWith('headers.') ? path.toLowerCase() : path))
  const [members, items] = [prefixesOf(named, '.'), prefixesOf(named, '[')]
  const covers = (path: string) => isBelow(`${path}.`, members) || isBelow(path, items)
  return (path) => named.length > 0 && (covers(path) || covers(ofEveryItem(path)))
}

/** Beginnings of the paths below the names, in order, without those that another one covers. */
function prefixesOf(names: readonly string[], separator: string): readonly string[] {
  const shortest: string[] = []
  for (const prefix of names.map((name) => name + separator).sort()) {
    const last = shortest.at(-1)
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix)
  }
  return shortest
}

/**
 * Whether a text begins with one of the prefixes, found by bisection: a receiver names the members of its answers, and
 * a look at each part of a name would take minutes for a name of 256 KB.
 */
function isBelow(text: string, prefixes: readonly string[]): boolean {
  let [low, high] = [0, prefixes.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((prefixes[middle] ?? '') <= text) low = middle + 1
    else high = middle
  }
  const nearest = prefixes[low - 1]
  return nearest !== undefined && text.startsWith(nearest)
}

/** `body.items[3].id` as `body.items[].id`. */
const ofEveryItem = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]')
