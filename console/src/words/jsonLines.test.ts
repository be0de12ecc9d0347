import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonLines, type Line, plainValueOf } from './jsonLines.ts'

const joined = (lines: readonly Line[] | null) =>
  lines?.flatMap(({ pieces }) => pieces.map(({ text }) => text)).join('')

/** JSON in unusual spellings: blanks anywhere, odd digits, repeated names. */
const odd: fc.Arbitrary<{ plain: string; spaced: string }> = fc.letrec<{
  value: { plain: string; spaced: string }
}>((tie) => {
  const blank = fc.constantFrom('', ' ', '\n', '\t  ', '\r\n')
  const leaf = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
    fc.constantFrom(
      '1',
      '-0',
      '1.10',
      '1e400',
      '12345678901234567890.10',
      'true',
      'false',
      'null',
      '"\\u0041\\/"',
    ),
  )
  const group = (open: string, close: string, names: boolean) =>
    fc
      .array(fc.tuple(fc.constantFrom('"a"', '"a"', '"b c"', '""'), tie('value'), blank), { maxLength: 4 })
      .map((members) => {
        const write = (spaced: boolean) =>
          members
            .map(([name, value, space]) => {
              const gap = spaced ? space : ''
              return `${gap}${names ? `${name}${gap}:${gap}` : ''}${spaced ? value.spaced : value.plain}${gap}`
            })
            .join(',')
        return { plain: open + write(false) + close, spaced: open + write(true) + close }
      })
  return {
    value: fc.oneof(
      { depthSize: 'small' },
      leaf.map((text) => ({ plain: text, spaced: text })),
      group('{', '}', true),
      group('[', ']', false),
    ),
  }
}).value

describe('JSON laid out for reading', () => {
  test('its pieces, joined, are the source without blanks', () => {
    fc.assert(fc.property(odd, ({ plain, spaced }) => expect(joined(jsonLines(spaced))).toBe(plain)))
  })

  test('a line that opens knows its end and its members', () => {
    fc.assert(
      fc.property(odd, ({ spaced }) => {
        const lines = jsonLines(spaced) ?? []
        for (const [at, line] of lines.entries()) {
          if (line.opens === undefined) continue
          const inside = lines.slice(at + 1, line.opens.end).filter(({ depth }) => depth === line.depth + 1)
          expect(lines[line.opens.end]?.depth).toBe(line.depth)
          expect(inside.filter(({ pieces }) => !/^[}\]]/.test(pieces[0]?.text ?? '')).length).toBe(
            line.opens.members,
          )
        }
      }),
    )
  })

  test('paths are those of conditions', () => {
    const lines = jsonLines('{"data":{"lines":[{"id":1},{"id":2}],"a b":{"c.d":null}}}') ?? []
    expect(lines.map(({ path }) => path)).toContain('body.data.lines[1].id')
    expect(lines.map(({ path }) => path)).toContain('body.data["a b"]["c.d"]')
  })

  test('a value is what it stands for', () => {
    const [line] = jsonLines('"a\\u0042\\n"') ?? []
    expect(line && plainValueOf(line)).toBe('aB\n')
  })

  test('what is no JSON has no lines', () => {
    for (const text of ['', '{', '{"a":1,}', 'hello', '[1 2]', "{'a':1}"]) expect(jsonLines(text)).toBeNull()
  })
})
