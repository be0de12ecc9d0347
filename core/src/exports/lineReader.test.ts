import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  CUT_BODY,
  EMPTY_LINES_MAX,
  LINE_DEPTH_MAX,
  LineReader,
  type RawLine,
  type RefusedLine,
} from './lineReader.ts'

const BODY_BYTES_MAX = 1000

/** The lines of a text that arrives in pieces that end at `cuts`. */
function read(text: string | Buffer, cuts: readonly number[] = []): (RawLine | RefusedLine)[] {
  const bytes = Buffer.from(text)
  const reader = new LineReader(BODY_BYTES_MAX)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  const lines: (RawLine | RefusedLine)[] = []
  let from = 0
  for (const end of ends) {
    // The caller may reuse a piece's memory.
    const piece = Buffer.from(bytes.subarray(from, end))
    for (const line of reader.read(piece)) if (line !== undefined) lines.push(line)
    piece.fill(0)
    from = end
  }
  const last = reader.end()
  return last === undefined ? lines : [...lines, last]
}

/** The value of a line with its body restored. */
function parsed(line: RawLine | RefusedLine): unknown {
  if ('fault' in line) return line
  return JSON.parse(line.head.toString(), (name, value) =>
    name === 'body' && value === CUT_BODY ? line.body?.toString() : value,
  )
}

describe('lines that arrive in pieces', () => {
  const unit = fc.constantFrom('a', '"', '\\', '€', '😀', '\u0001', '\n', '/', '{', '[', ',', ':', 'é')
  const text = fc.string({ unit, maxLength: 12 })
  const name = fc.constantFrom('body', 'bod', 'Body', 'a', 'body"', '', 'x')
  const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  }))
  const unitsOf = (character: string) =>
    character
      .split('')
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
  /** Escapes some characters in the strings of JSON by their UTF-16 units. */
  const escaped = (json: string, every: number) =>
    json.replaceAll(/"(?:[^"\\]|\\.)*"/g, (literal) =>
      literal.replaceAll(/\\u....|\\.|[^"]/gu, (character, at: number) =>
        at % every === 0 && !character.startsWith('\\') ? unitsOf(character) : character,
      ),
    )
  const cuts = fc.array(fc.nat(400), { maxLength: 6 })

  test('are the lines that a parser of JSON finds, whatever they hold and wherever they are cut', () =>
    fc.assert(
      fc.property(
        fc.array(object, { maxLength: 4 }),
        fc.integer({ min: 1, max: 5 }),
        cuts,
        (objects, every, at) => {
          const lines = objects.map((one) => escaped(JSON.stringify(one), every))
          expect(read(lines.join('\n'), at).map(parsed)).toEqual(lines.map((line) => JSON.parse(line)))
        },
      ),
      { numRuns: 3000 },
    ))

  test('have their body apart, half a pair replaced as where text is encoded', () => {
    for (const json of [
      '"\\ud83d\\ude00"',
      '"\\ud83d"',
      '"\\ude00x"',
      '"\\ud83d\\ud83d\\ude00"',
      '"\\ud83d\\n€"',
    ]) {
      for (let cut = 0; cut < json.length + 12; cut += 1) {
        const [line] = read(`{"body": ${json} }`, [cut])
        const body = line !== undefined && 'body' in line ? line.body : null
        expect(body).toEqual(Buffer.from(String(JSON.parse(json))))
      }
    }
  })

  test.each([
    ['{"body":"a\u0001"}', 'type'],
    ['{"body":"\\x"}', 'type'],
    ['{"body":"\\u00zz"}', 'type'],
    ['{"body":"no end', 'type'],
    [`${'['.repeat(LINE_DEPTH_MAX + 1)}`, 'too_deep'],
    [`[${'1,'.repeat(30_000)}1]`, 'too_many'],
  ])('are refused alone where they are no JSON or hold too much: %#', (wrong, code) => {
    for (const cut of [3, wrong.length - 2]) {
      expect(read(`{"a":1}\n${wrong}\n{"a":2}`, [cut]).map(parsed)).toMatchObject([
        { a: 1 },
        { number: 2, code },
        { a: 2 },
      ])
    }
  })

  test.each([
    [`{"body":"${'x'.repeat(BODY_BYTES_MAX + 1)}"}`, 2],
    [`{"a":"${'x'.repeat(512 * 1024)}"}`, 2],
    [' '.repeat(512 * 1024 + 1), 2],
    ['\n'.repeat(EMPTY_LINES_MAX + 10), EMPTY_LINES_MAX + 3],
  ])('are refused, and nothing after them is read, where they are too long: %#', (wrong, number) => {
    const lines = read(`{"a":1}\n${wrong}\n{"a":2}`)
    expect(lines.length).toBe(2)
    expect(lines[1]).toMatchObject({ number, code: expect.stringMatching(/^too_(long|many)$/) })
  })
})
