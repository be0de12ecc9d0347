import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorTime } from '../../../../tests/support/processorTime.ts'
import { pathPattern } from './pathPattern.ts'
import { type PathOptions, parsePath } from './paths.ts'

const OPTIONS: readonly PathOptions[] = [
  { every: true, deliveryFacts: false },
  { every: false, deliveryFacts: true },
]

const part = fc.constantFrom(
  ...[
    '.a',
    '.0',
    '.*',
    '.ä',
    '.😀',
    '.',
    '[0]',
    '[-1]',
    '[-0]',
    '[01]',
    '[*]',
    '[',
    ']',
    '"',
    ' ',
    '{',
    '\n',
  ],
  ...['["odd name"]', '["a\\"b"]', '["\\u00e4"]', '["\\x"]', '["\n"]', "['a']", '[""]', '.a.b', 'x'],
)
const root = fc.constantFrom(
  ...['body', 'headers', 'headers.X-A', 'headers.', 'query', 'query.', 'query.a b', 'method', 'path', 'ip'],
  ...['verification.verdict', 'verification', 'request.id', 'requestXid', 'action.name', 'bdy', ''],
)

describe('the pattern of paths', () => {
  test.each(OPTIONS)('takes exactly what is read as a path, with %j', (options) => {
    const pattern = new RegExp(pathPattern(options), 'u')
    const seen = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(root, fc.array(part, { maxLength: 22 }), (start, parts) => {
        const text = [start, ...parts].join('')
        fc.pre([...text].length <= 200)
        const isPath = 'path' in parsePath(text, options)
        seen[isPath ? 'taken' : 'refused'] += 1
        expect([text, pattern.test(text)]).toEqual([text, isPath])
      }),
      { numRuns: 2000 },
    )
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(30)
  })

  test('answers at once on a text that almost is one', () => {
    const pattern = new RegExp(pathPattern({ every: true, deliveryFacts: false }), 'u')
    const used = processorTime()
    for (const text of [`body${'.a'.repeat(98)} `, `body["${'\\\\'.repeat(95)}`, `query.${' '.repeat(190)}`])
      pattern.test(text)
    expect(used()).toBeLessThan(1000)
  })
})
