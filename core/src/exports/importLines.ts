import { isUtf8 } from 'node:buffer'
import { MAX_PROBLEM_ITEMS } from '../api/errors.ts'
import { issuesOf } from '../api/issues.ts'
import { type InputIssue, type ItemCode, issue } from '../engine/issues.ts'
import { inSlices } from '../platform/turns/index.ts'
import { ImportLine } from './line.ts'
import { CUT_BODY, LineReader, type RawLine, type RefusedLine } from './lineReader.ts'

/** A valid line, checked on its own. */
export interface CheckedLine {
  readonly number: number
  readonly line: ImportLine
  /** Decoded bytes of the body. */
  readonly body: Buffer
}

interface WrongLine {
  readonly number: number
  readonly issues: readonly InputIssue[]
}

/** Yields after some work, and returns the result. */
type Steps<Result> = Generator<undefined, Result, undefined>

/** Characters of base64 that are decoded in one step; a multiple of 4. */
const BASE64_STEP_BYTES = 256 * 1024

/** Limit of a body's text in either encoding, in bytes, for a limit of the decoded body. */
const textBytesMax = (bodyBytesMax: number) => Math.ceil(bodyBytesMax / 3) * 4

/**
 * Lines of NDJSON as they arrive, each checked on its own. Lines are limited before they are parsed, by the constants
 * of lineReader.ts, and are read and parsed in slices, so that the event loop is not blocked. A line that is too long
 * is the last one.
 *
 * @param bodyBytesMax limit of a decoded body
 */
export async function* linesOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bodyBytesMax: number,
): AsyncGenerator<CheckedLine | WrongLine, void, undefined> {
  const reader = new LineReader(textBytesMax(bodyBytesMax))
  for await (const piece of body) {
    const lines = reader.read(piece)
    for (;;) {
      const raw = await inSlices(next(lines))
      if (raw === undefined) break
      yield await inSlices(checkedLine(raw))
    }
    if (reader.isOver) return
  }
  const last = reader.end()
  if (last !== undefined) yield await inSlices(checkedLine(last))
}

/** The next available line; undefined if there is none. */
function* next<Line>(lines: Iterator<Line | undefined, void, undefined>): Steps<Line | undefined> {
  for (;;) {
    const step = lines.next()
    if (step.done === true) return undefined
    if (step.value !== undefined) return step.value
    yield
  }
}

function wrong(number: number, code: ItemCode, predicate: string): WrongLine {
  return { number, issues: [issue(['lines', number], code, `Line ${number} ${predicate}.`)] }
}

function* checkedLine(raw: RawLine | RefusedLine): Steps<CheckedLine | WrongLine> {
  const { number } = raw
  if ('fault' in raw) return wrong(number, raw.code, raw.fault)
  const { head, body } = raw
  if (!isUtf8(head)) return wrong(number, 'bad_format', 'is not UTF-8')
  let value: unknown
  try {
    value = JSON.parse(head.toString())
  } catch {
    return wrong(number, 'type', 'is not JSON')
  }
  yield
  const decoded = ImportLine.safeParse(value)
  if (!decoded.success) {
    const issues = issuesOf(decoded.error, value).slice(0, MAX_PROBLEM_ITEMS)
    return {
      number,
      issues: issues.map(({ path, code, detail }) =>
        issue(['lines', number, ...path], code, `Line ${number}: ${detail}`),
      ),
    }
  }
  const line = decoded.data
  const text = line.body === CUT_BODY && body !== null ? body : Buffer.from(line.body ?? '')
  if (!isUtf8(text)) return wrong(number, 'bad_format', 'is not UTF-8')
  const octets = line.bodyEncoding === 'base64' ? yield* decodedBase64(text) : text
  if (octets !== null) return { number, line: { ...line, body: null }, body: octets }
  const detail = `Line ${number}: body must be base64.`
  return { number, issues: [issue(['lines', number, 'body'], 'not_allowed', detail)] }
}

/**
 * Decodes base64 in the spelling that we write; Node's own decoder accepts anything. @returns null for another spelling
 */
function* decodedBase64(text: Buffer): Steps<Buffer | null> {
  if (text.length % 4 !== 0) return null
  const octets = Buffer.alloc((text.length / 4) * 3)
  let length = 0
  for (let at = 0; at < text.length; at += BASE64_STEP_BYTES) {
    const part = text.toString('latin1', at, at + BASE64_STEP_BYTES)
    const isLast = at + BASE64_STEP_BYTES >= text.length
    if (!(isLast ? /^[A-Za-z0-9+/]*={0,2}$/ : /^[A-Za-z0-9+/]*$/).test(part)) return null
    length += octets.write(part, length, 'base64')
    yield
  }
  return octets.subarray(0, length)
}
