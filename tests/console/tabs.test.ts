import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole, startConsoleService } from '../support/console.ts'
import type { TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startConsoleService({ parts: ['gateway'] })
})

const TABS = 8

test('eight tabs of one session show what arrives, each in its endpoint, and all of them its count', async () => {
  const endpoints = []
  for (let at = 0; at < TABS; at += 1) endpoints.push(await service.alice.endpoint({ name: `tab ${at}` }))
  const { page } = await openConsole(service.alice)
  // In a real browser only the tab in use has the focus.
  const pages: Page[] = []
  for (const endpoint of endpoints) {
    const tab = pages.length === 0 ? page : await page.context().newPage()
    const debuggerOf = await page.context().newCDPSession(tab)
    await debuggerOf.send('Emulation.setFocusEmulationEnabled', { enabled: false })
    pages.push(tab)
    // With open streams a page never becomes idle, but it does become loaded.
    await tab.goto(`${service.baseUrl}/console/e/${endpoint.id}`, { waitUntil: 'commit' })
  }
  await Promise.all(pages.map((tab) => tab.getByText('Waiting for the first webhook').waitFor()))
  await Promise.all(endpoints.map((endpoint) => endpoint.capture({ body: '{"type":"order.paid"}' })))
  await Promise.all(
    pages.map((tab) => tab.getByRole('complementary', { name: 'Request' }).getByRole('heading').waitFor()),
  )
  for (const tab of pages) {
    // The workspace's single stream updates every tab.
    await tab.getByRole('link', { name: /^tab 0 ?1$/ }).waitFor()
    expect(await tab.locator('.endpoints .count', { hasText: /^1$/ }).count()).toBe(TABS)
  }
})
