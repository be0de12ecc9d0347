import { beforeAll, expect, test } from 'bun:test'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** The events of an endpoint, on the page: where their id stands, and what becomes of one that comes again. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
})

test('an endpoint is told where ids stand and to skip what comes again, which the list then shows', async () => {
  const endpoint = await service.alice.endpoint({ name: 'orders' })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/settings`)
  const card = page.getByRole('region', { name: 'Events' })
  await card.getByLabel('Id of the event').fill('body[')
  await page.getByRole('button', { name: 'Save' }).click()
  await card.locator('.field-problem').first().waitFor()
  await card.getByLabel('Id of the event').fill('body.order')
  await card.getByLabel('When an event comes again').selectOption('skip')
  await card.getByLabel('For so long after the first', { exact: true }).fill('2')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({
    eventIdPath: 'body.order',
    dedupe: { by: 'event', windowSeconds: 172_800, then: 'skip' },
  })
  const first = await endpoint.capture({ body: '{"order":7}' })
  const again = await endpoint.capture({ body: '{"order":7}' })
  await opened.goTo(`/e/${endpoint.id}?r=${again.id}`)
  await page.getByTitle(`A duplicate of request #${first.id}`).waitFor()
  await page.getByText(': no action ran').waitFor()
  await page
    .locator('.facts')
    .getByRole('link', { name: `#${first.id}` })
    .first()
    .click()
  await page.waitForURL(`**/e/${endpoint.id}?r=${first.id}`)
  await opened.goTo(`/e/${endpoint.id}/settings`)
  await card.getByLabel('When an event comes again').selectOption('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({ dedupe: null })
  expect(faults).toEqual([])
})

test('a handshake is confirmed by its callback on a click, and the answer is shown', async () => {
  await using receiver = await startReceiver({ status: 200, body: 'granted' })
  const endpoint = await service.alice.endpoint({ name: 'events', provider: 'cloudevents' })
  const headers = { 'WebHook-Request-Origin': 'example.com', 'WebHook-Request-Callback': receiver.url }
  const { id } = await endpoint.capture({ method: 'OPTIONS', headers, body: '' })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  const button = page.getByRole('button', { name: 'Confirm the handshake' })
  await button.waitFor()
  expect(receiver.received.length).toBe(0)
  await button.click()
  await page.getByText('It answered 200: granted').waitFor()
  expect(receiver.received.map(({ method }) => method)).toEqual(['GET'])
  expect(faults).toEqual([])
})
