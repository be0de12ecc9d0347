import { expect, test } from 'bun:test'
import { z } from 'zod'
import { findProvider } from '../engine/providers/index.ts'
import { SAMPLES } from './catalog.ts'
import { filled } from './sample.ts'

const Event = z.strictObject({
  event: z.string().min(1),
  summary: z.string().min(1),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]),
})
const Samples = z.strictObject({
  provider: z.string(),
  isForm: z.boolean().optional(),
  events: z.array(Event).min(1),
})

test('the samples are of known providers, sorted by slug, and each event is named once', () => {
  expect(z.array(Samples).safeParse(SAMPLES).error).toBeUndefined()
  const slugs = SAMPLES.map(({ provider }) => provider)
  expect(slugs).toEqual([...new Set(slugs)].sort())
  for (const slug of slugs) expect(findProvider(slug)).toBeDefined()
  for (const { events } of SAMPLES) expect(new Set(events.map(({ event }) => event)).size).toBe(events.length)
})

test('every place of every sample is filled', () => {
  const now = new Date('2026-05-04T10:20:30.456Z')
  for (const { events } of SAMPLES)
    for (const { body, headers = {} } of events)
      expect(JSON.stringify([filled(body, now), filled(headers, now)])).not.toMatch(/\{[a-z]/i)
})

test('a text that is a place becomes its value, and a place within a text stays text', () => {
  const now = new Date('2026-05-04T10:20:30.456Z')
  const part = {
    a: '{unix+60}',
    b: '{unix}.000100',
    c: ['{isoSeconds}', null, 4],
    d: '{ms}',
    e: '{number:3}',
  }
  expect(filled(part, now)).toEqual({
    a: 1_777_890_090,
    b: '1777890030.000100',
    c: ['2026-05-04T10:20:30', null, 4],
    d: 1_777_890_030_456,
    e: expect.any(Number),
  })
  expect(() => filled({ a: '{tide}' }, now)).toThrow('{tide}')
})
