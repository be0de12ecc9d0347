import { isUtf8 } from 'node:buffer'
import { MAX_PROBLEM_ITEMS } from '../api/errors.ts'
import { issuesOf } from '../api/issues.ts'
import type { InputIssue } from '../engine/issues.ts'
import { ImportLine } from './line.ts'

/** Lines of NDJSON with their numbers, from 1; empty ones are passed over. */
export interface NumberedLine {
  readonly number: number
  readonly text: string
}

const LF = 0x0a

/** A line that could not be cut out; none follows it. */
export interface UncutLine {
  readonly number: number
  readonly issues: readonly InputIssue[]
}

/** Cuts a stream of bytes into lines. It ends at a line that is longer than `lineBytesMax` or not UTF-8. */
export async function* linesOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<NumberedLine | UncutLine, void, undefined> {
  let number = 1
  let parts: Uint8Array[] = []
  let bytes = 0
  const tooLong = () => bytes > lineBytesMax
  const keep = (part: Uint8Array) => {
    bytes += part.length
    if (!tooLong()) parts.push(part)
  }
  const take = (): NumberedLine | UncutLine => {
    const whole = parts.length === 1 ? (parts[0] ?? new Uint8Array()) : Buffer.concat(parts)
    parts = []
    if (tooLong()) return uncut(number, 'too_long', `is longer than ${lineBytesMax} bytes`)
    bytes = 0
    return isUtf8(whole)
      ? { number, text: Buffer.from(whole).toString() }
      : uncut(number, 'bad_format', 'is not UTF-8')
  }
  for await (const chunk of body) {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end))
      const line = take()
      if ('issues' in line || line.text.trim() !== '') yield line
      if ('issues' in line) return
      number += 1
      start = end + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
    if (tooLong()) {
      yield take()
      return
    }
  }
  const last = take()
  if ('issues' in last || last.text.trim() !== '') yield last
}

function uncut(number: number, code: InputIssue['code'], what: string): UncutLine {
  return { number, issues: [{ path: ['lines', number], code, detail: `Line ${number} ${what}.` }] }
}

/** A line that was decoded, or what is wrong with it. */
export type DecodedLine = { readonly number: number; readonly line: ImportLine } | UncutLine

/** Evaluates one line by itself. */
export function decodedLine(numbered: NumberedLine | UncutLine): DecodedLine {
  if ('issues' in numbered) return numbered
  const { number, text } = numbered
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return {
      number,
      issues: [{ path: ['lines', number], code: 'type', detail: `Line ${number} is not JSON.` }],
    }
  }
  const decoded = ImportLine.safeParse(value)
  if (decoded.success) return { number, line: decoded.data }
  const issues = issuesOf(decoded.error, value).map((issue) => ({
    ...issue,
    path: ['lines', number, ...issue.path],
    detail: `Line ${number}: ${issue.detail}`,
  }))
  return { number, issues: issues.slice(0, MAX_PROBLEM_ITEMS) }
}
