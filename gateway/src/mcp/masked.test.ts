import { expect, test } from 'bun:test'
import { masked } from './masked.ts'

const maskedBody = (body: string) => masked({ body })

test('a value that is cut is masked to its end, whatever brackets stand in it', () => {
  expect(maskedBody('{"a":1,"secret":{"x":"}","y":["opens')).toEqual({ body: '{"a":1,"secret":"***"' })
  expect(maskedBody('{"secret":["]","opens"],"b":"shown"}')).toEqual({
    body: '{"secret":"***","b":"shown"}',
  })
  expect(maskedBody('{"text":"\\"token\\": \\"shown\\"","token":12}')).toEqual({
    body: '{"text":"\\"token\\": \\"shown\\"","token":"***"}',
  })
})

test.each([
  ['escapes without an end', `"${'\\"'.repeat(500_000)}`],
  ['quotation marks', '"'.repeat(1_000_000)],
  ['names without a value', '"a":'.repeat(250_000)],
  ['brackets', `{"token":${'['.repeat(500_000)}`],
  ['pairs', 'a&'.repeat(500_000)],
])('%s cost no more than their length', (_what, body) => {
  const before = process.cpuUsage()
  masked({ body })
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
})
