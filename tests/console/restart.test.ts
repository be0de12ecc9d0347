import { expect, test } from 'bun:test'
import { atEnd } from '../support/atEnd.ts'
import { openConsole, startConsoleService } from '../support/console.ts'
import { createTestDatabase } from '../support/database.ts'
import { openNetworkPath } from '../support/networkPath.ts'

test('a restart under an open page: it comes back by itself, and misses nothing', async () => {
  const front = await openNetworkPath()
  const database = await createTestDatabase()
  atEnd('databases', () => database.drop())
  const first = await startConsoleService({ database, baseUrl: front.origin })
  front.target = { host: '127.0.0.1', port: first.running.port ?? 0 }
  const endpoint = await first.alice.endpoint({ name: 'restart' })
  await endpoint.capture({ body: '{"kept":true}' })
  const { page, goTo, faults } = await openConsole(first.alice)
  await goTo(`/e/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  front.target = undefined
  await first.stop()
  await page.getByText('Connecting', { exact: true }).waitFor()
  // A read that is requested meanwhile is retried, too.
  await page.locator('.list [role="row"]').first().click()
  const { secretKey } = first
  const second = await startConsoleService({ database, secretKey, baseUrl: front.origin })
  front.target = { host: '127.0.0.1', port: second.running.port ?? 0 }
  await endpoint.capture()
  await page.locator('.list [role="row"]').nth(1).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.line', { hasText: 'kept' }).waitFor({ timeout: 20_000 })
  expect(faults).toEqual([])
})
