import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
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
  const { page, faults } = opened
  await opened.goTo('/alerts')
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
