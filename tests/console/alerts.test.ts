import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type ConsolePage, holdCalls, openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Alert channels on the page. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
})

test('a channel has one lowest severity for all of its events, and its history has words', async () => {
  await using receiver = await startReceiver({ status: 200 })
  const made = await service.alice.post('/api/v1/alert-channels', {
    kind: 'webhook',
    name: 'Ops',
    settings: { url: receiver.url },
    events: [{ kind: 'delivery.parked', minSeverity: 'critical' }, { kind: 'watchdog.alarmed' }],
  })
  const { id } = z.object({ id: z.string() }).parse(made.body)
  await service.alice.post('/api/v1/alert-channels', { kind: 'slack', name: 'No address yet' })
  const { page, faults } = opened
  await opened.goTo('/alerts')
  await page.locator('.item', { hasText: 'No address yet' }).getByText('incomplete').waitFor()
  await page.getByRole('button', { name: 'Ops', exact: true }).click()
  const severity = page.getByLabel('Severity')
  await severity.locator('option', { hasText: 'as set for each event' }).waitFor({ state: 'attached' })
  await severity.selectOption({ label: 'warnings and errors' })
  await page.getByLabel('Dead letters').waitFor()
  await page.getByLabel('Certificate expiring').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await severity.waitFor({ state: 'detached' })
  const stored = await service.alice.get(`/api/v1/alert-channels/${id}`)
  expect(stored.body).toMatchObject({
    events: expect.arrayContaining([
      { kind: 'delivery.parked', minSeverity: 'warning' },
      { kind: 'watchdog.alarmed', minSeverity: 'warning' },
      { kind: 'certificate.expiring', minSeverity: 'warning' },
    ]),
  })
  await service.alice.post(`/api/v1/alert-channels/${id}/test`, {})
  await page.reload()
  await page.getByRole('region', { name: 'History' }).getByText('Test message').waitFor()
  expect(faults).toEqual([])
})

test('a name that is emptied is refused at its field', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'kept' })
  const made = async (path: string, members: object) => {
    const { body } = await alice.post(path, { ...members, name: 'Kept name' })
    return String(Object(body).id)
  }
  const url = 'http://127.0.0.1:9/'
  const action = await made(endpoint.at('/actions'), { kind: 'forward', url })
  const watchdog = await made('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
  const channel = await made('/api/v1/alert-channels', { kind: 'webhook', settings: { url } })
  const { page, faults } = opened
  const name = page.getByLabel('Name', { exact: true })
  for (const path of [`/e/${endpoint.id}/actions/${action}`, `/watchdogs/${watchdog}`, '/alerts']) {
    await opened.goTo(path)
    if (path === '/alerts') await page.getByRole('button', { name: 'Kept name', exact: true }).click()
    await name.fill(' ')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.field', { has: name }).locator('.field-problem').waitFor()
    await name.fill('Other name')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/Other name saved/).waitFor()
  }
  await alice.delete(`/api/v1/alert-channels/${channel}`)
  expect(faults).toEqual([])
})

test('what is typed while a form is saved stays in it, on top of what was saved', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'typed on' })
  const url = 'http://127.0.0.1:9/'
  const made = async (path: string, members: object) =>
    String(Object((await alice.post(path, { ...members, name: 'Before' })).body).id)
  const action = await made(endpoint.at('/actions'), { kind: 'forward', url })
  const every = { endpointId: endpoint.id, expectedIntervalSeconds: 3600 }
  const watchdog = await made('/api/v1/watchdogs', every)
  await made('/api/v1/alert-channels', { kind: 'webhook', settings: { url } })
  const { page, faults } = opened
  const name = page.getByLabel('Name', { exact: true })
  const save = page.getByRole('button', { name: /^(Save|Create watchdog|Create and test)$/ })
  /** Saves the open form, and types another name meanwhile. */
  const saveAndType = async (call: RegExp, saved: string, typed: string) => {
    await name.fill(saved)
    const held = await holdCalls(page, call)
    await save.click()
    await held.called
    await name.fill(typed)
    held.release()
    await page.getByText(new RegExp(`^${saved} saved`)).waitFor()
    expect(await name.inputValue()).toBe(typed)
    // The second save changes what the first has made.
    await save.click()
    await page.getByText(new RegExp(`^${typed} saved`)).waitFor()
    await name.waitFor({ state: 'detached' })
  }
  const stored = async (path: string, list: string) =>
    z
      .array(z.looseObject({ name: z.string() }))
      .parse(Object((await alice.get(path)).body)[list])
      .map((one) => one.name)
      .filter((one) => /^(First|Second|Third|Fourth) \w+$/.test(one))
      .sort()
  for (const [path, open, kind] of [
    [`/e/${endpoint.id}/actions/${action}`, undefined, 'actions'],
    [`/watchdogs/${watchdog}`, undefined, 'watchdogs'],
    ['/alerts', 'Before', 'alertChannels'],
  ] as const) {
    await opened.goTo(path)
    if (open !== undefined) await page.getByRole('button', { name: open, exact: true }).click()
    await saveAndType(new RegExp(`${kind}\\.update`), `First ${kind}`, `Second ${kind}`)
  }

  await opened.goTo(`/e/${endpoint.id}/actions/new`)
  await page.getByLabel('URL', { exact: true }).fill(url)
  await saveAndType(/actions\.create/, 'Third actions', 'Fourth actions')
  await opened.goTo(`/watchdogs/new?endpoint=${endpoint.id}`)
  await saveAndType(/watchdogs\.create/, 'Third watchdogs', 'Fourth watchdogs')
  await opened.goTo('/alerts')
  await page.getByRole('button', { name: 'Add channel' }).click()
  await page.getByLabel('Kind').selectOption('webhook')
  await page.getByLabel('URL', { exact: true }).fill(url)
  await saveAndType(/alertChannels\.create/, 'Third alertChannels', 'Fourth alertChannels')

  const both = (kind: string) => [`Fourth ${kind}`, `Second ${kind}`]
  expect(await stored(endpoint.at('/actions'), 'actions')).toEqual(both('actions'))
  expect(await stored('/api/v1/watchdogs', 'items')).toEqual(both('watchdogs'))
  expect(await stored('/api/v1/alert-channels', 'items')).toEqual(both('alertChannels'))
  const channels = Object((await alice.get('/api/v1/alert-channels')).body).items
  for (const { id, name: its } of channels)
    if (its.endsWith(' alertChannels')) await alice.delete(`/api/v1/alert-channels/${id}`)
  expect(faults).toEqual([])
})

test('the endpoint of a new watchdog stays the one that is shown', async () => {
  const { alice } = service
  const shown = await alice.endpoint({ name: 'shown' })
  const { page, faults } = opened
  await opened.goTo('/watchdogs/new')
  const chosen = page.getByLabel('Endpoint', { exact: true })
  await eventually('the newest', async () => (await chosen.inputValue()) === shown.id)
  await alice.endpoint({ name: 'made meanwhile' })
  await page.getByRole('link', { name: 'made meanwhile' }).waitFor()
  expect(await chosen.inputValue()).toBe(shown.id)
  expect(faults).toEqual([])
})

test('a channel that cannot be tested after it was made is made, once', async () => {
  await using receiver = await startReceiver({ status: 200 })
  const { page, faults } = opened
  const isTest = ({ pathname }: URL) => pathname.includes('alertChannels.test')
  await page.route(isTest, (route) => route.abort())
  await opened.goTo('/alerts')
  await page.getByRole('button', { name: 'Add channel' }).click()
  await page.getByLabel('Kind').selectOption('webhook')
  await page.getByLabel('Name', { exact: true }).fill('Untested')
  await page.getByLabel('URL').fill(receiver.url)
  const create = page.getByRole('button', { name: 'Create and test' })
  await create.click()
  await page.getByText('Untested saved. It could not be tested:').waitFor()
  await create.waitFor({ state: 'detached' })
  await page.locator('.item', { hasText: 'Untested' }).waitFor()
  expect(await page.locator('.item', { hasText: 'Untested' }).count()).toBe(1)
  await page.unroute(isTest)
  expect(faults).toEqual([])
})

test('an open incident leads to what it is about, and a filter that hides all attempts is not taken for none', async () => {
  await using receiver = await startReceiver({ status: 410 })
  const endpoint = await service.alice.endpoint({ name: 'incidents' })
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Gone', url: receiver.url })
  const watchdog = await service.alice.expect(
    service.alice.post('/api/v1/watchdogs', {
      endpointId: endpoint.id,
      name: 'Nightly',
      expectedIntervalSeconds: 1,
      graceSeconds: 0,
    }),
    z.looseObject({ id: z.string() }),
  )
  await endpoint.capture()
  await eventually('both incidents', async () => {
    const { body } = await service.alice.get('/api/v1/incidents?state=open')
    return Object(body).totalCount === 2
  })
  const { page, faults } = opened
  const show = (name: string) =>
    page.getByRole('region', { name: 'Incidents' }).locator('.item', { hasText: name }).getByRole('link')
  await opened.goTo('/alerts')
  await show('Nightly').click()
  await page.waitForURL(`**/watchdogs/${watchdog.id}`)
  await page.goBack()
  await show('Gone').click()
  await page.getByRole('heading', { name: '1 attempt' }).waitFor()
  await page.getByLabel('State').selectOption({ label: 'Delivered' })
  await page.getByText('No attempts match.').waitFor()
  await page.getByRole('button', { name: 'Show all attempts' }).click()
  await page.getByRole('heading', { name: '1 attempt' }).waitFor()
  expect(faults).toEqual([])
})
