import { expect, test } from 'bun:test'
import { holdCalls, openConsole, startConsoleService } from '../support/console.ts'

test('a search covers all endpoints, and leads to what it found', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const { alice, charlie } = service
  const [orders, refunds, idle] = await Promise.all(
    ['orders', 'refunds', 'idle'].map((name) => alice.endpoint({ name })),
  )
  if (orders === undefined || refunds === undefined || idle === undefined) throw new Error('There are three.')
  const foreign = await charlie.endpoint({ name: 'foreign' })
  for (const one of [orders, orders, refunds, foreign])
    await one.capture({ body: '{"customer":"cus_needle"}' })
  await orders.capture({ body: '{"customer":"other"}' })
  await idle.capture({ body: '{"customer":"other"}' })
  const { page, goTo, faults } = await openConsole(alice)
  await goTo('/')
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await page.getByRole('searchbox').fill('cus_needle')
  await page.getByRole('searchbox').press('Enter')
  await page.getByText('3 results in 2 endpoints').waitFor()
  expect(await page.locator('.found h2').allInnerTexts()).toEqual([
    expect.stringMatching(/^orders\s+2 results$/),
    expect.stringMatching(/^refunds\s+1 result$/),
  ])
  await page.locator('.found-row').last().click()
  await page.locator('.line', { hasText: 'cus_needle' }).first().waitFor()
  expect(page.url()).toContain(`/e/${refunds.id}?q=cus_needle&r=`)
  // The palette searches the same way.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Go to' }).fill('cus_needle')
  await page.keyboard.press('Enter')
  await page.getByText('3 results in 2 endpoints').waitFor()
  expect(faults).toEqual([])
})

test('an endpoint that is deleted while all are searched ends no search', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const kept = await alice.endpoint({ name: 'kept' })
  await kept.capture({ body: 'needle' })
  const deleted = await alice.endpoint({ name: 'deleted' })
  await deleted.capture({ body: 'needle' })
  const { page, goTo } = await openConsole(alice)
  await goTo('/search')
  const held = await holdCalls(page, /requests\.list/)
  await page.getByRole('searchbox').fill('needle')
  await page.getByRole('searchbox').press('Enter')
  await held.called
  await alice.delete(`/api/v1/endpoints/${deleted.id}`)
  held.release()
  await page.getByText('1 result in 1 endpoint').waitFor()
})
