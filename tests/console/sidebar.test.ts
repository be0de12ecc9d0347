import { expect, test } from 'bun:test'
import { openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'

/** The endpoints in the sidebar: a filter, groups, and what needs attention. */

test('endpoints are filtered and grouped, and a counter leads to the requests that need attention', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const service = await startConsoleService()
  const { alice } = service
  for (const name of ['orders/us', 'crm', 'billing', 'mail', 'sms']) await alice.endpoint({ name })
  const endpoint = await alice.endpoint({ name: 'orders/eu' })
  await alice.post(endpoint.at('/actions'), {
    kind: 'forward',
    url: receiver.url,
    delivery: { retry: { delays: ['1h'] } },
  })
  await endpoint.captureMany(2)
  await receiver.take(2)
  const { page, goTo, faults } = await openConsole(alice)
  await goTo('/usage')
  const list = page.getByRole('region', { name: 'Endpoints' })
  const group = list.getByRole('group').filter({ hasText: 'orders' })
  await group.getByRole('link', { name: /^eu/ }).waitFor()
  await group.getByRole('link', { name: /^us/ }).waitFor()
  expect(await list.getByRole('link', { name: /^crm/ }).count()).toBe(1)
  await list.getByLabel('Filter endpoints').fill('ORDERS/u')
  await list.getByRole('link', { name: /^crm/ }).waitFor({ state: 'detached' })
  await list.getByRole('link', { name: /us/ }).waitFor()
  await list.getByLabel('Filter endpoints').fill('nothing')
  await list.getByText('No endpoint has this name.').waitFor()
  await list.getByLabel('Filter endpoints').fill('')
  await list.getByRole('link', { name: '2 need attention in orders/eu' }).click()
  await page.getByText('Needs attention').or(page.getByText('needs:attention')).first().waitFor()
  await page.locator('.row').nth(1).waitFor()
  expect(await page.locator('.row').count()).toBe(2)
  expect(faults).toEqual([])
})

test('the filter finds each of more endpoints than one page of the list has', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'], limits: { endpointsMax: 200 } })
  await alice.endpoint({ name: 'oldest' })
  await Promise.all(Array.from({ length: 100 }, (_, index) => alice.endpoint({ name: `newer ${index}` })))
  const { page, goTo } = await openConsole(alice)
  await goTo('/usage')
  const list = page.getByRole('region', { name: 'Endpoints' })
  await list.getByLabel('Filter endpoints').fill('oldest')
  await list.getByRole('link', { name: /^oldest/ }).waitFor()

  // More than a page of the console reads.
  await page.route(/endpoints\.list/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({
      response,
      body: (await response.text()).replaceAll('"totalCount":101', '"totalCount":1001'),
    })
  })
  await page.reload()
  await page.getByText(/^The newest 101 of 1\s001 endpoints/).waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to a page or run a command' })
  await palette.getByText(/^Of 1\s001 endpoints, only the newest 101 are found here/).waitFor()
})
