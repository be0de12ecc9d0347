import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ReadRoot } from '../conditions/index.ts'
import { parseTemplate, type RenderOptions, renderInSteps, renderTemplate } from './index.ts'

const root: ReadRoot = {
  fact: (fact) => ({ method: 'POST', 'request.id': 90117, 'endpoint.name': 'ci' })[String(fact)],
  headerValues: (name) => (name.toLowerCase() === 'x-env' ? ['a', 'b'] : []),
  queryValues: (name) => (name === 'q' ? ['1', '2'] : []),
  bodyText: () => 'raw',
  bodyDocument: () => ({
    value: { id: 'evt_1', n: 1.5, nothing: null, list: [1, { a: 'x' }], 'a}}b': 'odd', long: '😀'.repeat(9) },
    isForm: false,
  }),
}

function render(text: string, options?: RenderOptions): string {
  const parsed = parseTemplate(text)
  if ('problems' in parsed) throw new Error(parsed.problems.map((problem) => problem.reason).join(' '))
  return renderTemplate(parsed.template, root, options)
}

describe('templates', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['{{body.id}}: {{ body.n }}', 'evt_1: 1.5'],
    ['{{body.none}}|{{body.nothing}}', '|'],
    ['{{body.list}}', '[1,{"a":"x"}]'],
    ['{{headers.X-Env}} {{query.q}} {{method}}', 'a, b 1 POST'],
    ['{{request.id}} {{endpoint.name}} {{body}}', '90117 ci raw'],
    ['\\{{body.id}} {{body.id}}', '{{body.id}} evt_1'],
    ['{{body["a}}b"]}}', 'odd'],
    ['}} {x} {', '}} {x} {'],
  ])('%j renders %j', (text, expected) => {
    expect(render(text)).toBe(expected)
  })

  test('values are cut at a character, then escaped; text is neither', () => {
    const options = { cutAt: 3, escape: (text: string) => text.replaceAll('😀', '&smile;') }
    expect(render('😀😀😀😀 {{body.long}}', options)).toBe('😀😀😀😀 &smile;&smile;&smile;')
  })

  test('a value is escaped only up to where the text is too long', () => {
    let escaped = 0
    const count = (text: string) => {
      escaped += text.length
      return text
    }
    const text = render('ab{{body.long}}{{body.long}}', { enough: 5, escape: count })
    expect(text.length).toBe(6)
    expect(escaped).toBe(4)
    expect(render('ab{{body.id}}', { enough: 7 })).toBe('abevt_1')
  })

  test('a template is filled in by pieces, one for each placeholder', () => {
    const parsed = parseTemplate('{{body.id}} {{body.n}} {{method}}')
    if ('problems' in parsed) throw new Error('It is a template.')
    const pieces = renderInSteps(parsed.template, root, {})
    let count = 0
    while (pieces.next().done !== true) count += 1
    expect(count).toBe(3)
  })

  test.each([
    ['{{ body.id', 'not closed'],
    ['{{ nothing.here }}', 'known root'],
    ['{{ }}', 'known root'],
    ['{{ body.list[*] }}', '[*]'],
    ['a {{x}} b {{y}}', '"x"'],
    ['x'.repeat(4001), 'at most 4000'],
  ])('%j is refused', (text, reason) => {
    const parsed = parseTemplate(text)
    expect('problems' in parsed ? parsed.problems[0]?.reason : '').toContain(reason)
  })

  test('every wrong placeholder is named', () => {
    const parsed = parseTemplate('{{x}} {{method}} {{y}}')
    expect('problems' in parsed ? parsed.problems : []).toHaveLength(2)
  })

  test('parsing and rendering never throw, and end', () => {
    const pieces = fc.constantFrom('{{', '}}', '{', '"', '\\', 'body', '.id', ' ', 'x', '[0]')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const parsed = parseTemplate(parts.join(''))
        if ('template' in parsed) expect(typeof renderTemplate(parsed.template, root)).toBe('string')
      }),
      { numRuns: 2000 },
    )
  })
})
