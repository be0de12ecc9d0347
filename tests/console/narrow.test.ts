import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Names of as many characters as people give, without a place to break, and with. */
const NAMES = [
  'payments-service-production-europe-west-1-order-webhooks-a',
  'Orders of the shop in Europe, sent on to the warehouse at once',
]

/** Pixels; the narrowest screen that is promised: a phone's, or 1280 at 400 percent. */
const WIDTH = 320

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
  const open = document.querySelector('dialog[open]')
  const outside = open !== null && open.getBoundingClientRect().right > innerWidth + 1 ? ['dialog ' + open.className] : []
  const wide = [document.documentElement, ...document.querySelectorAll('body *')].filter((element) => {
    const { overflowX } = getComputedStyle(element)
    const canScroll = element === document.documentElement || overflowX === 'auto' || overflowX === 'scroll'
    return canScroll && element.scrollWidth > element.clientWidth + 1 && element.closest(made) === null
  })
  return [...outside, ...wide.map((element) => element.tagName + '.' + element.className + ' ' + element.scrollWidth)]
})()`

test('no screen is wider than a phone, whatever things are called', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const [name = '', spoken = ''] = NAMES
  const endpoint = await service.alice.endpoint({ name })
  let actionId = ''
  for (const called of NAMES) {
    const action = await service.alice.expect(
      service.alice.post(endpoint.at('/actions'), {
        kind: 'forward',
        name: called,
        url: `${receiver.url}/${name}`,
      }),
      WithId,
    )
    actionId = action.id
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
    rules: [`${home}/rules`, '.step'],
    rehearse: [`${home}/rehearse`, 'form'],
    settings: [`${home}/settings`, '#provider'],
    watchdogs: ['/watchdogs', '.timeline svg'],
    alerts: ['/alerts', 'main h2'],
    bin: ['/bin', 'main h1'],
    usage: ['/usage', '.days'],
    health: ['/health', 'main h2'],
    access: ['/access', '.banner'],
    audit: ['/audit', 'main h1'],
    compare: [`${home}?r=${id}&c=${id}`, '.compare'],
    edit: [`${home}?r=${id}&edit=1`, 'dialog[open], form'],
    sample: [`${home}?sample=1`, 'dialog[open]'],
    settled: [`${home}/actions/${actionId}`, '.condition-test'],
    search: ['/search?q=type', '.found-row'],
    watchdog: ['/watchdogs/new', 'main form'],
    signIn: ['/sign-in', '#key'],
    first: ['/', 'main'],
  }
  // A screen that is added to the page is added here, too.
  const routes = [
    ...(await Bun.file(join(import.meta.dir, '../../console/src/App.tsx')).text()).matchAll(
      /path="(\/[^/":]+)/g,
    ),
  ]
  const walked = Object.values(places).map(([path]) => path)
  expect(
    routes.map(([, path = '']) => path).filter((path) => !walked.some((one) => one.startsWith(path))),
  ).toEqual([])
  const wide: Record<string, unknown> = {}
  const look = async (place: string) => {
    const found = await page.evaluate<string[]>(SIDEWAYS)
    if (found.length > 0) wide[place] = found
  }
  for (const [place, [path, sign]] of Object.entries(places)) {
    await opened.goTo(path)
    await page.locator(sign).locator('visible=true').first().waitFor()
    await page.locator('main').first().waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await look(place)
  }
  const openDialog = async (place: string, path: string, press: () => Promise<void>) => {
    await opened.goTo(path)
    await page.locator('main').first().waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await press()
    await page.locator('dialog[open]').waitFor()
    await look(place)
    await page.keyboard.press('Escape')
  }
  await openDialog('palette', home, () => page.keyboard.press('Control+k'))
  await openDialog('keys', home, () => page.keyboard.press('?'))
  await openDialog('new endpoint', home, () => page.keyboard.press('n'))
  await openDialog('new key', '/access', () => page.getByRole('button', { name: 'New key' }).click())
  await openDialog('delete', `${home}/settings`, () =>
    page
      .getByRole('button', { name: /^Delete/ })
      .last()
      .click(),
  )
  expect(wide).toEqual({})
  expect(faults).toEqual([])
})

test('a stranger is told what this is and how to sign in, once, and lands on the page that was asked for', async () => {
  const { page } = opened
  await page.context().clearCookies()
  await opened.goTo('/watchdogs')
  await page.getByRole('heading', { name: 'Sign in to Creel' }).waitFor()
  const words = (await page.locator('body').textContent()) ?? ''
  expect(words).toContain('Creel captures webhooks and shows them here.')
  expect(words).toContain('creel open')
  expect(words.match(/Sign in to Creel/g)).toHaveLength(1)
  // The words of the API are for programs.
  expect(words).not.toMatch(/Bearer|Authorization|again/)
  expect(await page.evaluate<string[]>(SIDEWAYS)).toEqual([])
  await page.getByLabel('API key').fill('creel_live_wrong')
  await page.keyboard.press('Enter')
  await page.getByText('The API key is unknown, expired or was revoked.').waitFor()
  await page.getByLabel('API key').fill(service.alice.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Watchdogs' }).first().waitFor()
})

test.each([
  [WIDTH, 740],
  [768, 1024],
])(
  'Save stands at the lower edge, and nothing of the head is cut off, at %d pixels',
  async (width, height) => {
    const { page, goTo } = opened
    const endpoint = await service.alice.endpoint({ name: 'whole' })
    await page.setViewportSize({ width, height })
    await goTo(`/e/${endpoint.id}/settings`)
    await page.getByLabel('Endpoint name').fill('changed')
    const save = await page.locator('.save-bar').boundingBox()
    expect(Math.round((save?.y ?? 0) + (save?.height ?? 0))).toBe(height)
    await goTo(`/e/${endpoint.id}`)
    await page.getByRole('link', { name: 'Settings' }).waitFor()
    const ends = await page.evaluate<number[]>(`
    [...document.querySelectorAll('.page-bar :is(a, button)')].map((one) => one.getBoundingClientRect().right)`)
    expect(Math.max(...ends)).toBeLessThanOrEqual(width)
  },
)

test('a request is whole on half a screen: what has no room for it is scrolled to', async () => {
  const { page, goTo } = opened
  const endpoint = await service.alice.endpoint({ name: 'half' })
  const { id } = await endpoint.capture({ body: JSON.stringify({ lines: Array(60).fill('some words') }) })
  await page.setViewportSize({ width: 640, height: 400 })
  await goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Add a note' }).click()
  await page.getByLabel('Note', { exact: true }).waitFor()
  const panel = page.locator('#panel-body')
  await panel.scrollIntoViewIfNeeded()
  const box = await panel.boundingBox()
  expect(box?.height).toBeGreaterThanOrEqual(180)
  expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBeLessThanOrEqual(400)
})
