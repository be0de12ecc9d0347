import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Client, TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'
import { check, makeWatchdog, pass, putWatchdog, raised, readWatchdog, setActive } from './support.ts'

let service: TestService
let alice: Client
let endpoint: TestEndpoint

beforeAll(async () => {
  service = await startService()
  alice = service.alice
})
beforeEach(async () => {
  endpoint = await alice.endpoint({ name: 'payments' })
})

const after = (instant: string | null, seconds: number) =>
  new Date(Date.parse(instant ?? '') + seconds * 1000).toISOString()
const label = (name: string) => ({ body: JSON.stringify({ type: name }) })
const onLabel = (value: string) => ({ path: 'label', op: 'eq', value })

describe('creation arms at once', () => {
  test('without a match in history it waits, and its clock runs from now', async () => {
    await endpoint.capture(label('other'))
    const made = await makeWatchdog(endpoint, { match: onLabel('invoice.paid') })
    expect(made).toMatchObject({
      endpointId: endpoint.id,
      endpointName: 'payments',
      name: 'payments',
      state: 'waiting',
      active: true,
      pausedByPlan: false,
      match: { all: [onLabel('invoice.paid')] },
      expectedIntervalSeconds: 600,
      graceSeconds: 120,
      lastMatchedAt: null,
      lastMatchedRequestId: null,
      alarmedAt: null,
      recoveredAt: null,
      lastAlertedAt: null,
      alertContactIds: [],
    })
    expect(made.armedAt).toBe(made.createdAt)
    expect(made.dueAt).toBe(after(made.armedAt, 600))
    expect(made.alarmAt).toBe(after(made.armedAt, 720))
  })

  test.each([
    [0, 'onTime'],
    [650, 'late'],
  ] as const)('with a match %i s ago it is %s', async (seconds, state) => {
    const matched = await endpoint.capture()
    await service.clock.advance(seconds * 1000)
    const made = await makeWatchdog(endpoint)
    expect(made).toMatchObject({
      state,
      lastMatchedRequestId: matched.id,
      lastMatchedAt: matched.receivedAt,
      dueAt: after(matched.receivedAt, 600),
    })
  })

  test('a history older than the window alarms at the first check', async () => {
    await endpoint.capture()
    await service.clock.advance(3_600_000)
    const made = await makeWatchdog(endpoint)
    await check(service)
    expect(await readWatchdog(alice, made)).toMatchObject({ state: 'alarmed' })
    expect(await raised(service, made)).toEqual(['watchdog.alarmed'])
  })

  test('deleted requests are no history', async () => {
    await endpoint.capture()
    await makeWatchdog(endpoint)
    await alice.delete(endpoint.at('/requests'))
    expect((await makeWatchdog(endpoint)).state).toBe('waiting')
  })
})

describe('a match', () => {
  test('makes a waiting one onTime, with a new baseline and no alert', async () => {
    const made = await makeWatchdog(endpoint, { match: onLabel('invoice.paid') })
    await endpoint.capture(label('invoice.voided'))
    expect((await readWatchdog(alice, made)).state).toBe('waiting')
    const matched = await endpoint.capture(label('invoice.paid'))
    expect(await readWatchdog(alice, made)).toMatchObject({
      state: 'onTime',
      lastMatchedRequestId: matched.id,
      lastMatchedAt: matched.receivedAt,
      dueAt: after(matched.receivedAt, 600),
      armedAt: made.armedAt,
    })
    expect(await raised(service, made)).toEqual([])
  })

  test('saves a late one from its alarm', async () => {
    const made = await makeWatchdog(endpoint)
    await endpoint.capture()
    await pass(service, 700)
    expect((await readWatchdog(alice, made)).state).toBe('late')
    await endpoint.capture()
    await pass(service, 100)
    expect((await readWatchdog(alice, made)).state).toBe('onTime')
    expect(await raised(service, made)).toEqual([])
  })

  test('of a burst, the last one counts', async () => {
    const made = await makeWatchdog(endpoint)
    await Promise.all(Array.from({ length: 20 }, () => endpoint.send()))
    const [newest] = await endpoint.requests('pageSize=1')
    expect((await readWatchdog(alice, made)).lastMatchedRequestId).toBe(newest?.id ?? null)
  })

  test('counts as an oversize trace, too', async () => {
    const small = await startService({ limits: { payloadBytesMax: 1000 } })
    const target = await small.alice.endpoint()
    const made = await makeWatchdog(target)
    const captured = await target.capture({ body: 'x'.repeat(5000) })
    expect(captured).toMatchObject({ bodyTruncated: true })
    expect(await readWatchdog(small.alice, made)).toMatchObject({ lastMatchedRequestId: captured.id })
    await small.stop()
  })

  test('stays one when the request is deleted; restoring it is none', async () => {
    const made = await makeWatchdog(endpoint)
    const matched = await endpoint.capture()
    await alice.delete(endpoint.at(`/requests/${matched.id}`))
    const before = await readWatchdog(alice, made)
    expect(before).toMatchObject({ state: 'onTime', lastMatchedRequestId: matched.id })
    await service.clock.advance(60_000)
    await alice.post('/api/v1/recycle-bin/restore', { requestIds: [matched.id] })
    expect((await readWatchdog(alice, made)).dueAt).toBe(before.dueAt)
  })
})

describe('time', () => {
  test('onTime turns late without an alert, then alarmed with one, and a match recovers it', async () => {
    const made = await makeWatchdog(endpoint)
    const matched = await endpoint.capture()
    await pass(service, 605)
    expect((await readWatchdog(alice, made)).state).toBe('late')
    expect(await raised(service, made)).toEqual([])

    await pass(service, 120)
    await check(service)
    const alarmed = await readWatchdog(alice, made)
    expect(alarmed).toMatchObject({ state: 'alarmed', recoveredAt: null, lastMatchedRequestId: matched.id })
    expect(alarmed.lastAlertedAt).toBe(alarmed.alarmedAt)
    expect(alarmed.alarmAt).toBe(after(matched.receivedAt, 720))
    expect(await raised(service, made)).toEqual(['watchdog.alarmed'])

    await pass(service, 100_000)
    expect(await raised(service, made)).toEqual(['watchdog.alarmed'])

    const again = await endpoint.capture()
    // It is shown at once; the next check sends the alert.
    expect(await readWatchdog(alice, made)).toMatchObject({
      state: 'onTime',
      recoveredAt: again.receivedAt,
      alarmedAt: alarmed.alarmedAt,
    })
    await check(service)
    await check(service)
    expect(await raised(service, made)).toEqual(['watchdog.alarmed', 'watchdog.recovered'])
  })

  test('a waiting one alarms without having been late', async () => {
    const made = await makeWatchdog(endpoint)
    await pass(service, 700)
    expect((await readWatchdog(alice, made)).state).toBe('waiting')
    await pass(service, 30)
    expect((await readWatchdog(alice, made)).state).toBe('alarmed')
  })

  test('two outages are two alarms and two recoveries', async () => {
    const made = await makeWatchdog(endpoint)
    for (let outage = 0; outage < 2; outage += 1) {
      await pass(service, 800)
      await endpoint.capture()
      await check(service)
    }
    const [alarmed, recovered] = ['watchdog.alarmed', 'watchdog.recovered']
    expect(await raised(service, made)).toEqual([alarmed, recovered, alarmed, recovered])
  })
})

describe('pause and resume', () => {
  test('a paused one has no deadlines, sees no match and never alarms', async () => {
    const made = await makeWatchdog(endpoint)
    expect(await setActive(alice, made, false)).toMatchObject({
      state: 'paused',
      active: false,
      dueAt: null,
      alarmAt: null,
    })
    await endpoint.capture()
    await pass(service, 10_000)
    expect(await readWatchdog(alice, made)).toMatchObject({ state: 'paused', lastMatchedAt: null })
    expect(await raised(service, made)).toEqual([])
  })

  test('resuming arms anew from now and forgets the history', async () => {
    const made = await makeWatchdog(endpoint)
    await endpoint.capture()
    await setActive(alice, made, false)
    await endpoint.capture()
    await service.clock.advance(5_000_000)
    const resumed = await setActive(alice, made, true)
    expect(resumed.state).toBe('waiting')
    expect(Date.parse(resumed.armedAt)).toBeGreaterThan(Date.parse(made.armedAt) + 4_000_000)
    expect(resumed.dueAt).toBe(after(resumed.armedAt, 600))
    await pass(service, 30)
    expect((await readWatchdog(alice, made)).state).toBe('waiting')
  })

  test('pausing an alarmed one ends its incident without a recovery', async () => {
    const made = await makeWatchdog(endpoint)
    await pass(service, 800)
    await setActive(alice, made, false)
    await setActive(alice, made, true)
    await endpoint.capture()
    await check(service)
    expect(await raised(service, made)).toEqual(['watchdog.alarmed'])
    await pass(service, 800)
    expect(await raised(service, made)).toEqual(['watchdog.alarmed', 'watchdog.alarmed'])
  })

  test('resuming what runs changes nothing', async () => {
    const made = await makeWatchdog(endpoint)
    await service.clock.advance(5000)
    expect((await setActive(alice, made, true)).armedAt).toBe(made.armedAt)
  })
})

describe('edits', () => {
  test('a longer interval moves the deadlines, and recovers an alarmed one', async () => {
    const made = await makeWatchdog(endpoint)
    await pass(service, 800)
    const edited = await putWatchdog(alice, made, { expectedIntervalSeconds: 6000 })
    expect(edited).toMatchObject({ state: 'onTime', dueAt: after(made.armedAt, 6000), graceSeconds: 120 })
    expect(edited.recoveredAt).not.toBeNull()
    expect(await raised(service, made)).toEqual(['watchdog.alarmed', 'watchdog.recovered'])
  })

  test('an interval change alone cannot send a second alarm', async () => {
    const made = await makeWatchdog(endpoint)
    await pass(service, 800)
    await putWatchdog(alice, made, { expectedIntervalSeconds: 60, graceSeconds: 0 })
    await check(service)
    await putWatchdog(alice, made, { expectedIntervalSeconds: 6000 })
    const back = await putWatchdog(alice, made, { expectedIntervalSeconds: 600 })
    await check(service)
    expect(back.state).toBe('alarmed')
    expect(await raised(service, made)).toEqual(['watchdog.alarmed', 'watchdog.recovered'])
  })

  test('another match re-reads the history', async () => {
    const paid = await endpoint.capture(label('invoice.paid'))
    await endpoint.capture(label('ping'))
    const made = await makeWatchdog(endpoint, { match: onLabel('ping') })
    const edited = await putWatchdog(alice, made, { match: onLabel('invoice.paid') })
    expect(edited).toMatchObject({ lastMatchedRequestId: paid.id, dueAt: after(paid.receivedAt, 600) })
    expect(await putWatchdog(alice, made, { match: onLabel('never') })).toMatchObject({
      state: 'waiting',
      lastMatchedRequestId: null,
    })
    const later = await endpoint.capture(label('never'))
    expect(await readWatchdog(alice, made)).toMatchObject({ state: 'onTime', lastMatchedRequestId: later.id })
  })

  test('two watchdogs with the same match do not share their fate', async () => {
    const [one, other] = [await makeWatchdog(endpoint), await makeWatchdog(endpoint)]
    await putWatchdog(alice, other, { match: onLabel('ping') })
    await endpoint.capture(label('pong'))
    expect((await readWatchdog(alice, one)).state).toBe('onTime')
    expect((await readWatchdog(alice, other)).state).toBe('waiting')
    await alice.delete(`/api/v1/watchdogs/${one.id}`)
    await endpoint.capture(label('ping'))
    expect((await readWatchdog(alice, other)).state).toBe('onTime')
  })
})
