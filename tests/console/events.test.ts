import { beforeAll, expect, test } from 'bun:test'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
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
  await card.getByRole('button', { name: 'Save the events' }).click()
  await card.locator('.field-problem').first().waitFor()
  await card.getByLabel('Id of the event').fill('body.order')
  await card.getByLabel('When an event comes again').selectOption('skip')
  await card.getByLabel('For so long after the first', { exact: true }).fill('2')
  await card.getByRole('button', { name: 'Save the events' }).click()
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
  await card.getByRole('button', { name: 'Save the events' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({ dedupe: null })
  expect(faults).toEqual([])
})
