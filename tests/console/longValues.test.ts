import { expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'

/** Pixels: more than two lines of a row take less. */
const ROW_MAX = 70

/** Runs in the page: pixels by which the name of an action is wider than its place. */
const OVERHANG = `(() => {
  const { scrollWidth, clientWidth } = document.querySelector('#panel-deliveries h3')
  return scrollWidth - clientWidth
})()`

const boxOf = async (element: Locator) => {
  await element.waitFor()
  return (await element.boundingBox()) ?? { width: 0, height: 0 }
}

test('one long value takes no more than two lines of a list, and leaves the others whole', async () => {
  await using receiver = await startReceiver({ status: 200 })
  const service = await startConsoleService()
  const { alice } = service
  const long = 'W'.repeat(100)
  const endpoint = await alice.endpoint({ name: 'long' })
  await alice.post(endpoint.at('/actions'), { kind: 'forward', name: long, url: receiver.url })
  await alice.post('/api/v1/keys', { name: long, scope: 'read' })
  const kept = await endpoint.capture({ body: JSON.stringify({ type: long.repeat(2) }) })
  const binned = await endpoint.capture({ suffix: `/${long.repeat(20)}` })
  await receiver.take(2)
  await alice.delete(endpoint.at(`/requests/${binned.id}`))
  const { page, goTo, faults } = await openConsole(alice)

  await goTo('/bin')
  const row = page.getByRole('row').nth(1)
  expect((await boxOf(row)).height).toBeLessThan(ROW_MAX)

  await goTo(`/e/${endpoint.id}/deliveries`)
  expect((await boxOf(page.locator('.attempt').last())).height).toBeLessThan(ROW_MAX)
  expect((await boxOf(page.getByLabel('Action', { exact: true }))).width).toBeLessThan(300)

  await goTo(`/e/${endpoint.id}?r=${kept.id}&tab=deliveries`)
  await page.locator('#panel-deliveries h3').waitFor()
  expect(await page.evaluate<number>(OVERHANG)).toBeLessThan(2)

  await goTo('/access')
  const prefix = page.getByRole('row', { name: long }).getByRole('cell').first()
  // A line of small text.
  expect((await boxOf(prefix.locator('code'))).height).toBeLessThan(25)
  expect(faults).toEqual([])
})
