import { expect, test } from 'bun:test'
import { z } from 'zod'
import { openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'

test('the health screen shows problems with what to do, queues, storage and version', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const service = await startConsoleService()
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'waits' })
  const { id } = await alice.expect(
    alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Billing',
      url: receiver.url,
      delivery: { retry: { delays: ['1h'] } },
    }),
    z.looseObject({ id: z.string() }),
  )
  await endpoint.captureMany(2)
  await receiver.take(2)
  const { page, goTo, faults } = await openConsole(alice)
  await goTo('/health')
  await page.getByText('Nothing is wrong.').waitFor()
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('Billing').getByRole('cell', { name: '2', exact: true }).waitFor()
  await row('Deliveries').getByRole('cell', { name: '2', exact: true }).waitFor()
  await row('Alerts').getByRole('cell', { name: '0', exact: true }).waitFor()
  const card = page.getByRole('region', { name: 'Service' })
  await card.getByText('ready', { exact: true }).waitFor()
  for (const fact of ['Version', 'Stored', 'database', 'jobs'])
    await card.getByText(fact, { exact: true }).waitFor()

  await alice.post(endpoint.at(`/actions/${id}/pause`))
  const trouble = page.getByRole('listitem').filter({ hasText: 'Action Billing is paused' })
  await trouble.getByText('What to do').click()
  await trouble.getByText('resume the action').waitFor()
  expect(await trouble.getByRole('link', { name: 'Runbook' }).getAttribute('href')).toBe('/docs/runbook.md')
  await trouble.getByRole('link', { name: 'Show' }).click()
  await page.waitForURL(`**/e/${endpoint.id}/actions/${id}`)
  expect(faults).toEqual([])
})

test('the health screen of another workspace has none of it, and an outage and a newer build are said', async () => {
  const service = await startConsoleService()
  const busy = await service.alice.endpoint({ name: 'secret-name' })
  await service.alice.post(busy.at('/actions'), {
    kind: 'forward',
    name: 'Theirs',
    url: 'http://127.0.0.1:9/',
  })
  await busy.captureMany(2)
  const { page, goTo } = await openConsole(await service.newClient())
  await page.route('**/console/', (route) => route.fulfill({ body: '<script src="other.js"></script>' }))
  await page.route('**/readyz', (route) =>
    route.fulfill({
      status: 503,
      json: { status: 'unavailable', checks: { queue: 'unavailable' }, jobs: 'ok' },
    }),
  )
  await goTo('/health')
  await page.getByText('A newer build is serving').waitFor()
  const trouble = page.getByRole('listitem').filter({ hasText: 'Service: queue' })
  await trouble.getByText('unavailable').waitFor()
  expect(await page.getByText(/Theirs|secret-name/).count()).toBe(0)
  await page.getByRole('row').filter({ hasText: 'Deliveries' }).getByRole('cell', { name: '0' }).waitFor()
})

test('a service that no longer answers is not said to be well', async () => {
  const service = await startConsoleService()
  const { page, goTo, faults } = await openConsole(service.alice)
  await goTo('/health')
  await page.getByText('Nothing is wrong.').waitFor()
  const badge = page.getByRole('region', { name: 'Service' }).getByText('ready', { exact: true })
  await badge.waitFor()
  await page.route('**/readyz', (route) => route.abort())
  await badge.waitFor({ state: 'detached' })
  await page.getByText('Nothing is wrong.').waitFor({ state: 'detached' })
  await page.unrouteAll()
  await badge.waitFor()
  await page.getByText('Nothing is wrong.').waitFor()
  expect(faults).toEqual([])
})
