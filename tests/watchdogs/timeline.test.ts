import { beforeAll, expect, test } from 'bun:test'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWatchdog, pass, WATCHDOGS } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})

test('a timeline has the matches, the alarms and the own outages of its period', async () => {
  const endpoint = await service.alice.endpoint()
  const match = { path: 'body.type', op: 'eq', value: 'export' }
  const first = await endpoint.capture({ body: '{"type":"export"}' })
  await endpoint.capture({ body: '{"type":"other"}' })
  const watchdog = await makeWatchdog(endpoint, { match })
  const timeline = async (query = '') =>
    (await service.alice.get(`${WATCHDOGS}/${watchdog.id}/timeline${query}`)).body
  expect(await timeline()).toMatchObject({ matches: [{ requestId: first.id }], alarms: [], outages: [] })
  await pass(service, 800)
  const alarmed = Object(await timeline())
  expect(alarmed).toMatchObject({ alarms: [{ recoveredAt: null }] })
  expect(new Date(alarmed.to).getTime() - new Date(alarmed.from).getTime()).toBe(8 * 600_000)
  const second = await endpoint.capture({ body: '{"type":"export"}' })
  await pass(service, 5)
  const began = new Date(service.clock.now().getTime() - 120_000)
  const ended = new Date(began.getTime() + 60_000)
  await service.db.insertInto('gatewayOutages').values({ beganAt: began, endedAt: ended }).execute()
  expect(await timeline()).toMatchObject({
    matches: [{ requestId: first.id }, { requestId: second.id }],
    alarms: [{ recoveredAt: expect.any(String) }],
    outages: [{ from: began.toISOString(), to: ended.toISOString() }],
  })
  const before = new Date(began.getTime() - 86_400_000).toISOString()
  expect(await timeline(`?to=${before}`)).toMatchObject({ matches: [], alarms: [], outages: [] })
  const later = began.toISOString()
  const turned = await service.alice.get(`${WATCHDOGS}/${watchdog.id}/timeline?from=${later}&to=${before}`)
  expect(wrongParts(turned)).toEqual(['?from out_of_range'])
})
