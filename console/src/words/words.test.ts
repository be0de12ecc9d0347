import { expect, test } from 'bun:test'
import { attemptErrorWords } from './attemptError.ts'
import { ago, clock, dayHeading, limitOfBytes, limitWords, ofLimit, ordinal, plural } from './format.ts'
import { sharedMembers, tellingPreview } from './telling.ts'
import { peek, visible } from './visible.ts'

test('an error of an attempt is a sentence, and what is not known stands as it is', () => {
  expect(attemptErrorWords('http_503')).toBe('The receiver answered 503.')
  expect(attemptErrorWords('timeout: no response within 10000 ms')).toBe(
    'The receiver did not answer in time. no response within 10000 ms',
  )
  expect(attemptErrorWords('dns')).toBe('The host name does not resolve.')
  expect(attemptErrorWords('something: new')).toBe('something: new')
})

test('a time in a list says its day unless it is today', () => {
  const now = new Date(2026, 10, 22, 0, 30).getTime()
  expect(clock(new Date(2026, 10, 22, 0, 4, 5).toISOString(), now)).toBe('00:04:05')
  expect(clock(new Date(2026, 10, 21, 23, 26, 12).toISOString(), now)).toBe('21 Nov 23:26')
  expect(clock(new Date(2025, 10, 21, 23, 26, 12).toISOString(), now)).toBe('21 Nov 2025 23:26')
})

test('the first row of a day has a heading, but for today at the top', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString()
  const now = new Date(2026, 10, 22, 12).getTime()
  const rows = [at(22, 9), at(22, 0), at(21, 23), at(21, 1), at(19, 5)]
  expect(rows.map((row, index) => dayHeading(row, rows[index - 1], now))).toEqual([
    undefined,
    undefined,
    'Sat 21 Nov 2026',
    undefined,
    'Thu 19 Nov 2026',
  ])
  expect(dayHeading(at(21, 23), undefined, now)).toBe('Sat 21 Nov 2026')
})

test('times a day ahead that differ by an hour read differently', () => {
  const now = Date.now()
  const inHours = (hours: number) => ago(new Date(now + hours * 3_600_000).toISOString(), now)
  expect([inHours(23.9), inHours(25), inHours(50)]).toEqual(['in 24h', 'in 25h', 'in 2d'])
})

test('a plural keeps the y behind a vowel', () => {
  expect([plural(90, 'day'), plural(2, 'delivery'), plural(1, 'day')]).toEqual([
    '90 days',
    '2 deliveries',
    '1 day',
  ])
})

test('a limit that bounds nothing is said so', () => {
  expect([limitWords(200), limitWords(1_000_000_000)]).toEqual(['200', 'no limit'])
  expect([ofLimit(1, 10), ofLimit(1, 1_000_000_000)]).toEqual(['1 of 10', '1'])
  expect([limitOfBytes(10_000_000), limitOfBytes(1_000_000_000_000_000)]).toEqual(['10.0 MB', 'no limit'])
})

test('characters that reorder or hide text are spelled out; scripts that run from right to left stay', () => {
  expect(visible('</script>\u202eevil')).toBe('</script>⟨U+202E⟩evil')
  expect(visible('a\u200bb\u2066c\ufeff')).toBe('a⟨U+200B⟩b⟨U+2066⟩c⟨U+FEFF⟩')
  expect(visible('שלום دفعت 123')).toBe('שלום دفعت 123')
})

test('the beginning of a JSON body reads without its marks', () => {
  expect(peek('{"type":"order.paid","amount":1250.10,"customer":{"id":"c"}, "n" : [1, 2]}')).toBe(
    'type order.paid  amount 1250.10  customer id c  n 1  2',
  )
  expect(peek(null)).toBe('')
})

test('an ordinal ends as it is spoken', () => {
  expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 100].map(ordinal).join(' ')).toBe(
    '1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 100th',
  )
})

test('a preview leads with the members that differ among requests of one label', () => {
  const row = (n: number, label: string | null = 'order.paid') => ({
    label,
    eventId: `evt_${n}`,
    bodyPreview: `{"id":"evt_${n}","object":"event","type":"${label}","created":17${n},"data":{"amount":${n}0,"currency":"eur","note":"cut he`,
  })
  const rows = [row(1), row(2), row(3), row(4, 'order.made')]
  const previews = rows.map((one) => tellingPreview(one, sharedMembers(rows)))
  expect(previews[0]).toBe('amount 10 · created 171 · object event · currency eur')
  expect(previews[2]).toBe('amount 30 · created 173 · object event · currency eur')
  // A label with one request has nothing to compare with.
  expect(previews[3]).toBe('object event · amount 40 · currency eur · created 174')
})

test('the preview of another body than JSON is its beginning', () => {
  const row = { label: null, eventId: null, bodyPreview: 'see http://a.b/c, {now}' }
  expect(tellingPreview(row, sharedMembers([row, row]))).toBe('see http://a.b/c, {now}')
  expect(tellingPreview({ ...row, bodyPreview: null }, sharedMembers([]))).toBe('')
})

test('a preview loses punctuation of JSON only, and the pairs of a form are decoded', () => {
  expect(peek('{"a":"b","c":[1]}')).toBe('a b  c 1')
  expect(peek('items[]=1&name=J%C3%B6rg+B&cut=%C3')).toBe('items[]=1 · name=Jörg B · cut=%C3')
  expect(peek('<?xml version="1.0"?>\n<a b="c"/>')).toBe('<?xml version="1.0"?> <a b="c"/>')
})
