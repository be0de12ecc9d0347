import { isDeepStrictEqual } from 'node:util'
import type { WireHeader } from '../engine/message/index.ts'
import { DIFFERENCES_MAX } from './bounds.ts'
import type { Difference, Outcome } from './schema.ts'

/** An answer of a receiver, or the reason why there is none. */
export interface Answer {
  /** Null without an answer. */
  readonly statusCode: number | null
  readonly headers: readonly WireHeader[]
  /** Null if it was not kept. */
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
 *   else `slower` if it took over twice as long and 100 ms more; else `equal`
 */
export function compareAnswers(baseline: Answer, answer: Answer, ignored: readonly string[]): Comparison {
  const differences = differencesOf(baseline, answer).filter(({ path }) => !isIgnored(path, ignored))
  const isFailure = ({ statusCode }: Answer) => statusCode === null || statusCode >= 500
  const shown = differences.slice(0, DIFFERENCES_MAX)
  if (isFailure(answer) && !isFailure(baseline)) return { outcome: 'failed', differences: shown }
  if (differences.length > 0) return { outcome: 'changed', differences: shown }
  const [before, after] = [baseline.durationMs, answer.durationMs]
  const isSlower =
    before !== null && after !== null && after > before * SLOWER.times && after > before + SLOWER.byMs
  return { outcome: isSlower ? 'slower' : 'equal', differences: [] }
}

/** Paths that differ between two answers to the same request: their values are not stable. */
export function unstablePaths(first: Answer, second: Answer): readonly string[] {
  return differencesOf(first, second).map(({ path }) => path.replaceAll(/\[\d+\]/g, '[]'))
}

function differencesOf(before: Answer, after: Answer): Difference[] {
  const found: Difference[] = []
  if (before.statusCode !== after.statusCode)
    found.push({ path: 'status', before: before.statusCode, after: after.statusCode })
  if (before.error !== after.error && (before.statusCode === null || after.statusCode === null))
    found.push({ path: 'error', before: before.error, after: after.error })
  const [oldHeaders, newHeaders] = [headersOf(before), headersOf(after)]
  for (const name of new Set([...oldHeaders.keys(), ...newHeaders.keys()])) {
    const [one, two] = [oldHeaders.get(name), newHeaders.get(name)]
    if (!isDeepStrictEqual(one, two))
      found.push({ path: `headers.${name}`, before: shown(one), after: shown(two) })
  }
  if (before.body !== null && after.body !== null) compareBodies(before.body, after.body, found)
  return found
}

function headersOf({ headers, body }: Answer): Map<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    // The length follows from the body, where that is known.
    if (VOLATILE_HEADERS.has(key) || (key === 'content-length' && body !== null)) continue
    byName.set(key, [...(byName.get(key) ?? []), value])
  }
  return byName
}

const shown = (values: readonly string[] | undefined): unknown =>
  values === undefined ? null : values.length === 1 ? values[0] : values

function compareBodies(before: Uint8Array, after: Uint8Array, found: Difference[]): void {
  if (Buffer.compare(before, after) === 0) return
  const [one, two] = [jsonOf(before), jsonOf(after)]
  if (one === undefined || two === undefined) {
    found.push({ path: 'body', before: excerpt(before), after: excerpt(after) })
    return
  }
  compareValues('body', one.value, two.value, found)
}

/** A body that is not JSON is compared as a whole. */
function jsonOf(body: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(Buffer.from(body).toString('utf8')) }
  } catch {
    return undefined
  }
}

const EXCERPT_CHARACTERS = 500

const excerpt = (body: Uint8Array): string =>
  Buffer.from(body).toString('utf8').slice(0, EXCERPT_CHARACTERS).toWellFormed()

/** Enough for any report, and a bound for bodies that differ everywhere. */
const FOUND_MAX = 1000

function compareValues(path: string, before: unknown, after: unknown, found: Difference[]): void {
  if (found.length >= FOUND_MAX || isDeepStrictEqual(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let at = 0; at < Math.max(before.length, after.length); at += 1)
      compareValues(`${path}[${at}]`, before[at] ?? null, after[at] ?? null, found)
    return
  }
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compareValues(`${path}.${name}`, before[name] ?? null, after[name] ?? null, found)
    return
  }
  found.push({ path, before: bounded(before), after: bounded(after) })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as a report shows it. */
function bounded(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= EXCERPT_CHARACTERS ? value : `${text.slice(0, EXCERPT_CHARACTERS).toWellFormed()}…`
}

function isIgnored(path: string, ignored: readonly string[]): boolean {
  const general = path.replaceAll(/\[\d+\]/g, '[]')
  return ignored.some((one) => [path, general].some((each) => covers(one, each)))
}

const covers = (ignored: string, path: string): boolean =>
  path === ignored || path.startsWith(`${ignored}.`) || path.startsWith(`${ignored}[`)
