import { describe, expect, test } from 'bun:test'
import { safeResponse } from '../endpoints/index.ts'
import { ConditionSet } from '../engine/conditions/index.ts'
import { prepareVerification } from '../engine/verification/index.ts'
import { type CaptureSettings, nothingLearned } from './captureSettings.ts'
import { createSettingsCache } from './settingsCache.ts'

const settingsOf = (endpointId: string): CaptureSettings => ({
  endpointId,
  captureId: endpointId,
  previousCaptureId: null,
  previousCaptureUntil: null,
  endpointName: 'cached',
  plan: 'team',
  workspaceId: 'w',
  cell: 0,
  isSealed: false,
  revision: 1,
  payloadBytesMax: 1,
  storedRequestsMax: 1,
  captureRatePerMinute: 1_000,
  captureBytesPerMinute: 1_000,
  rejectUnverified: false,
  allowCors: false,
  isAllowedSender: undefined,
  response: safeResponse({
    responseStatusCode: 200,
    responseContentType: 'text/plain',
    responseHeaders: {},
    responseBody: '',
  }),
  verification: prepareVerification({
    provider: null,
    signingSecret: null,
    handshakeToken: null,
    manual: null,
  }),
  eventIdPath: null,
  columns: [],
  storing: null,
  repeating: { label: false, eventId: false },
  sealing: null,
  originalMs: null,
  hash: null,
  dedupe: null,
  actions: [],
  script: null,
  criteria: new ConditionSet([]),
  looks: 0,
  learned: nothingLearned(),
})

/** A database with an endpoint for every id that starts with `e`. It records the queries. */
function database() {
  const asked: (readonly string[])[] = []
  let failing = false
  const cache = createSettingsCache(
    async (ids) => {
      asked.push(ids)
      if (failing) throw new Error('away')
      return new Map(ids.filter((id) => id.startsWith('e')).map((id) => [id, settingsOf(id)]))
    },
    { now: () => new Date() },
  )
  return { cache, asked, fail: (does: boolean) => (failing = does) }
}

describe('the settings cache', () => {
  test('asks once for what it knows, each time for what there is not', async () => {
    const { cache, asked } = database()
    expect(cache.peek('e1')).toBeUndefined()
    expect((await cache.find('e1'))?.endpointId).toBe('e1')
    expect(cache.peek('e1')).toBe(await cache.find('e1'))
    expect(await cache.find('x')).toBeUndefined()
    expect(await cache.find('x')).toBeUndefined()
    expect(asked).toEqual([['e1'], ['x'], ['x']])
  })

  test('asks together for what is wanted together', async () => {
    const { cache, asked } = database()
    const found = await Promise.all(['e1', 'e2', 'e2', 'x', 'e3'].map((id) => cache.find(id)))
    expect(found.map((settings) => settings?.endpointId)).toEqual(['e1', 'e2', 'e2', undefined, 'e3'])
    expect(asked).toEqual([['e1'], ['e2', 'x', 'e3']])
  })

  test('asks anew for what was invalidated', async () => {
    const { cache, asked } = database()
    await cache.find('e1')
    cache.forget(settingsOf('e1'))
    await cache.find('e1')
    expect(asked).toEqual([['e1'], ['e1']])
  })

  test('drops a destroyed data key, and no other settings', async () => {
    const sealing = { id: 'k', sealedKey: Buffer.alloc(1), key: Buffer.alloc(32) }
    const ids = ['e1', 'e2', 'e3']
    const load = async () =>
      new Map(ids.map((id) => [id, { ...settingsOf(id), sealing: id === 'e3' ? null : sealing }]))
    const cache = createSettingsCache(load, { now: () => new Date() })
    await Promise.all(ids.map((id) => cache.find(id)))
    cache.forgetKey('e1')
    cache.forgetKey('e3')
    expect(ids.map((id) => cache.peek(id) === undefined)).toEqual([true, false, false])
  })

  test('hands on a failure to everybody who waited, and remembers nothing of it', async () => {
    const { cache, fail } = database()
    fail(true)
    const results = await Promise.allSettled([cache.find('e1'), cache.find('e2'), cache.find('e2')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    fail(false)
    expect((await cache.find('e2'))?.endpointId).toBe('e2')
  })

  test('hands on a failure of one endpoint to those alone who asked for it, and remembers nothing of it', async () => {
    const load = async (ids: readonly string[]) =>
      new Map(ids.map((id) => [id, id === 'bad' ? new Error('unreadable') : settingsOf(id)]))
    const cache = createSettingsCache(load, { now: () => new Date() })
    const results = await Promise.allSettled(['e1', 'e2', 'bad', 'e3'].map((id) => cache.find(id)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(cache.peek('bad')).toBeUndefined()
  })

  test('keeps what was used last when there is too much', async () => {
    const { cache } = database()
    await cache.find('e first')
    const ids = Array.from({ length: 5_000 }, (_, index) => `e${index}`)
    await Promise.all(ids.slice(0, 4_999).map((id) => cache.find(id)))
    cache.peek('e first')
    await cache.find('e4999')
    expect(cache.peek('e first')).toBeDefined()
    expect(cache.peek('e0')).toBeUndefined()
  })
})
