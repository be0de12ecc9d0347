import { expect, test } from 'bun:test'
import { z } from 'zod'
import { openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'

test('a value of the body becomes a column of the list, of old and of new captures', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'columns' })
  const first = await endpoint.capture({ body: '{"type":"order.paid","amount":1250,"to":"ada"}' })
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 900 })
  const columns = async () =>
    z.looseObject({ columns: z.array(z.string()) }).parse((await alice.get(endpoint.at(''))).body).columns
  const cell = (text: string) => page.locator('.list .column', { hasText: text })
  const use = async (line: string, item: string) => {
    await page.locator('.line', { hasText: line }).click()
    await page.getByRole('button', { name: 'Use path in' }).click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
    await page.getByText('Saved').first().waitFor()
  }
  await goTo(`/e/${endpoint.id}?r=${first.id}`)
  await use('amount', 'Column of the list')
  await cell('1250').waitFor()
  expect(await columns()).toEqual(['body.amount'])
  await endpoint.capture({ body: '{"type":"order.paid","amount":77}' })
  await cell('77').waitFor()
  await use('amount', 'No column of the list')
  await cell('1250').waitFor({ state: 'detached' })

  // JSON is JSON whatever its label, as for conditions; a repeated field of a form is an element of a list.
  const typed = (type: string, body: string) => endpoint.capture({ body, headers: { 'Content-Type': type } })
  const form = 'application/x-www-form-urlencoded'
  const mislabelled = await typed(form, '{"type":"order.late","amount":55}')
  await goTo(`/e/${endpoint.id}?r=${mislabelled.id}`)
  await use('amount', 'Column of the list')
  await cell('55').waitFor()
  const repeated = await typed(form, 'tag=red&tag=blue')
  await goTo(`/e/${endpoint.id}?r=${repeated.id}`)
  await use('blue', 'Column of the list')
  await cell('blue').waitFor()
  expect(await columns()).toEqual(['body.amount', 'body.tag[1]'])
  // A type that conditions do not read has lines, but no paths.
  const other = await typed('application/vnd.other', '{"amount":66}')
  await goTo(`/e/${endpoint.id}?r=${other.id}`)
  await page.locator('.line', { hasText: 'amount' }).click()
  await page.getByText('Click a line to copy its path').waitFor()

  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByLabel('Columns of the list').fill('body.to\nbody')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('names no value of a body').waitFor()
  await page.getByLabel('Columns of the list').fill('body.to')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await eventually('the saved columns', async () => (await columns()).join() === 'body.to')
  await goTo(`/e/${endpoint.id}`)
  await cell('ada').waitFor()
  expect(faults).toEqual([])
})
