import { beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Hints of the page from captured requests: conditions, secrets, rhythms, long bodies. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService({ retryDelaysSeconds: [3600] })
  opened = await openConsole(service.alice)
})

test('a condition is tried on what was captured, and its paths are offered with examples', async () => {
  const endpoint = await service.alice.endpoint({ name: 'conditions' })
  for (const type of ['paid', 'paid', 'made']) await endpoint.capture({ body: JSON.stringify({ type }) })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/actions/new?path=body.type&value=%22paid%22`)
  const said = page.getByRole('status').filter({ hasText: 'Of the last 3' })
  await said.getByText('2').first().waitFor()
  expect(await page.locator('datalist option[value="body.type"]').textContent()).toContain('string in 100 %')
  await page.getByRole('textbox', { name: 'Value' }).fill('made')
  await said.getByText('1', { exact: true }).waitFor()
  expect(faults).toEqual([])
})

test('a secret is tried on a captured request before it is saved', async () => {
  const endpoint = await service.alice.endpoint({
    name: 'secrets',
    provider: 'github',
    signingSecret: 'wrong',
  })
  const signature = createHmac('sha256', 'right secret').update('{}').digest('hex')
  const { id } = await endpoint.capture({ headers: { 'X-Hub-Signature-256': `sha256=${signature}` } })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('link', { name: 'Test another secret…' }).click()
  const tryIt = page.getByRole('button', { name: `Test on #${id}` })
  await tryIt.click()
  await page.getByText('Signature failed.').waitFor()
  await page.getByLabel(/secret/i).fill('right secret')
  await tryIt.click()
  await page.getByText('Signature verified.').waitFor()
  const saved = await service.alice.get(endpoint.at(`/requests/${id}`))
  expect(saved.body).toMatchObject({ verification: { verdict: 'failed' } })
  expect(faults).toEqual([])
})

test('scripted answers are tried on a captured request, saved, counted and shown with what they answered', async () => {
  const endpoint = await service.alice.endpoint({ name: 'answers' })
  await endpoint.capture({ body: '{"type":"order.paid"}' })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/settings`)
  const card = page.getByRole('region', { name: 'Scripted answers' })
  await card.getByText('would be answered by the endpoint').waitFor()
  await card.getByRole('button', { name: 'Insert an example' }).click()
  await card.getByText('would be answered by the 1st response').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await card.getByText('1st: 0 of 2').waitFor()
  const { id } = await endpoint.capture({ body: '{"type":"order.paid"}' })
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByText('the 1st response').waitFor()
  await opened.goTo(`/e/${endpoint.id}/settings`)
  await card.getByText('1st: 1 of 2').waitFor()
  await card.getByRole('button', { name: 'Reset the counts' }).click()
  await card.getByText('1st: 0 of 2').waitFor()
  expect(faults).toEqual([])
})

test('an attempt that is scheduled is made now', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await service.alice.endpoint({ name: 'hurry', forwardUrl: receiver.url })
  const { id } = await endpoint.capture()
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}&tab=deliveries`)
  receiver.answer = { status: 200 }
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByRole('button', { name: /200 Attempt 2/ }).waitFor()
  expect(faults).toEqual([])
})

test('a long body waits until somebody asks for it, and is shown whole', async () => {
  const endpoint = await service.alice.endpoint({ name: 'long' })
  const body = `${`${'x'.repeat(40)}\n`.repeat(7000)}the end`
  const { id } = await endpoint.capture({ body, headers: { 'Content-Type': 'text/plain' } })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Load', exact: true }).click()
  const lines = page.getByRole('region', { name: /Body of/ })
  await lines.press('End')
  await lines.getByText(/the end$/).waitFor()
  expect(faults).toEqual([])
})

test('a watchdog shows its matches on a line of time', async () => {
  const endpoint = await service.alice.endpoint({ name: 'rhythm' })
  await endpoint.captureMany(2)
  await service.alice.post('/api/v1/watchdogs', {
    endpointId: endpoint.id,
    name: 'Heartbeat',
    expectedIntervalSeconds: 3600,
  })
  const { page, faults } = opened
  await opened.goTo('/watchdogs')
  await page.getByRole('img', { name: /2 matches, 0 alarms/ }).waitFor()
  expect(faults).toEqual([])
})

test('an interval or a grace period that is no number is refused at its field', async () => {
  const endpoint = await service.alice.endpoint({ name: 'unread' })
  const made = await service.alice.post('/api/v1/watchdogs', {
    endpointId: endpoint.id,
    name: 'Unread',
    expectedIntervalSeconds: 3600,
    graceSeconds: 600,
  })
  const place = `/watchdogs/${Object(made.body).id}`
  const { page, faults } = opened
  await opened.goTo(place)
  const form = page.getByRole('form', { name: 'Unread' })
  const field = (label: string) =>
    form.locator('.field').filter({ has: page.getByLabel(label, { exact: true }) })
  for (const [label, unread, read] of [
    ['Expected every', '1,5', '2'],
    ['Expected every', '', '2'],
    ['Grace period', '1e', '30'],
    ['Grace period', ' ', '30'],
  ] as const) {
    await field(label).getByLabel(label, { exact: true }).fill(unread)
    await form.getByRole('button', { name: 'Save' }).click()
    await field(label).locator('.field-problem').waitFor()
    await field(label).getByLabel(label, { exact: true }).fill(read)
  }
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Unread saved').waitFor()
  expect((await service.alice.get(`/api/v1${place}`)).body).toMatchObject({
    expectedIntervalSeconds: 7200,
    graceSeconds: 1800,
  })
  expect(faults).toEqual([])
})
