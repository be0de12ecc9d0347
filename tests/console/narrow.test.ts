import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Names of as many characters as people give, without a place to break, and with. */
const NAMES = [
  'payments-service-production-europe-west-1-order-webhooks-a',
  'Orders of the shop in Europe, sent on to the warehouse at once',
]

/** Pixels; the narrowest screen that is promised. */
const WIDTH = 360

const WithId = z.looseObject({ id: z.string() })

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice, { width: WIDTH, height: 740 })
})

/** Runs in the page: what scrolls sideways, but for what is made to. */
const SIDEWAYS = `(() => {
  const made = 'pre, .cm-scroller, .tabs, .table-frame, .page-bar nav'
  const wide = [document.documentElement, ...document.querySelectorAll('body *')].filter((element) => {
    const { overflowX } = getComputedStyle(element)
    const canScroll = element === document.documentElement || overflowX === 'auto' || overflowX === 'scroll'
    return canScroll && element.scrollWidth > element.clientWidth + 1 && element.closest(made) === null
  })
  return wide.map((element) => element.tagName + '.' + element.className + ' ' + element.scrollWidth)
})()`

test('no screen is wider than a phone, whatever things are called', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const [name = '', spoken = ''] = NAMES
  const endpoint = await service.alice.endpoint({ name })
  for (const called of NAMES) {
    const action = await service.alice.expect(
      service.alice.post(endpoint.at('/actions'), {
        kind: 'forward',
        name: called,
        url: `${receiver.url}/${name}`,
      }),
      WithId,
    )
    const rule = { version: 1, name: called, steps: [{ op: 'keep', paths: ['body.type'] }] }
    await service.alice.post(endpoint.at(`/transformations?actionId=${action.id}`), { rule })
  }
  await service.alice.post('/api/v1/watchdogs', {
    endpointId: endpoint.id,
    name: spoken,
    expectedIntervalSeconds: 3600,
  })
  await service.alice.post('/api/v1/alert-channels', { kind: 'ntfy', name, settings: { topic: 'creel' } })
  const { id } = await endpoint.capture({
    body: JSON.stringify({ type: name, [name]: name }),
    suffix: `/${name}`,
  })
  await receiver.take(2)
  const { page, faults } = opened
  const home = `/e/${endpoint.id}`
  const places: Readonly<Record<string, readonly [path: string, sign: string]>> = {
    captures: [home, '.row'],
    request: [`${home}?r=${id}`, '.line'],
    attempts: [`${home}?r=${id}&tab=deliveries`, '#panel-deliveries >> text=500'],
    actions: [`${home}/actions`, `main >> text=${spoken}`],
    action: [`${home}/actions/new`, '.condition-test'],
    deliveries: [`${home}/deliveries`, 'main >> text=500'],
    rules: [`${home}/rules`, '.cm-content'],
    rehearse: [`${home}/rehearse`, 'form'],
    settings: [`${home}/settings`, '#provider'],
    watchdogs: ['/watchdogs', '.timeline svg'],
    alerts: ['/alerts', 'main h2'],
    bin: ['/bin', 'main h1'],
    usage: ['/usage', '.days'],
    access: ['/access', '.banner'],
    audit: ['/audit', 'main h1'],
  }
  const wide: Record<string, unknown> = {}
  for (const [place, [path, sign]] of Object.entries(places)) {
    await opened.goTo(path)
    await page.locator(sign).locator('visible=true').first().waitFor()
    await page.waitForLoadState('networkidle')
    const found = await page.evaluate<string[]>(SIDEWAYS)
    if (found.length > 0) wide[place] = found
  }
  expect(wide).toEqual({})
  expect(faults).toEqual([])
})
