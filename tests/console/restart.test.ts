import { expect, test } from 'bun:test'
import { atEnd } from '../support/atEnd.ts'
import { openConsole, startConsoleService } from '../support/console.ts'
import { createTestDatabase } from '../support/database.ts'
import { openNetworkPath } from '../support/networkPath.ts'
import { startReceiver } from '../support/receiver.ts'

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
  await page.locator('.line', { hasText: 'kept' }).waitFor()
  expect(faults).toEqual([])
})

test('a screen that is opened during an outage waits for the service, and says so', async () => {
  const front = await openNetworkPath()
  const database = await createTestDatabase()
  atEnd('databases', () => database.drop())
  const first = await startConsoleService({ database, baseUrl: front.origin })
  front.target = { host: '127.0.0.1', port: first.running.port ?? 0 }
  const endpoint = await first.alice.endpoint({ name: 'outage' })
  const { page, goTo, faults } = await openConsole(first.alice)
  await goTo(`/e/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  front.target = undefined
  await first.stop()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText(/The service has not answered since/).waitFor()
  const { secretKey } = first
  const second = await startConsoleService({ database, secretKey, baseUrl: front.origin })
  front.target = { host: '127.0.0.1', port: second.running.port ?? 0 }
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  await page.getByText(/The service has not answered since/).waitFor({ state: 'detached' })
  expect(faults).toEqual([])
})

test('an upgrade under an open page asks for a reload, and keeps the draft', async () => {
  const service = await startConsoleService()
  const endpoint = await service.alice.endpoint({ name: 'upgrade' })
  const { page, goTo, faults } = await openConsole(service.alice)
  await goTo(`/e/${endpoint.id}/settings`)
  const name = page.getByRole('textbox', { name: 'Endpoint name' })
  await name.fill('a draft')
  // The files of another version: the page names another script, and the old parts are gone.
  await page.route('**/console/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script src="/console/main-other.js"></script>' }),
  )
  await page.route('**/console/UsageScreen-*.js', (route) => route.fulfill({ status: 404, body: '' }))
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByText('A new version of Creel is there').waitFor()
  await page.unrouteAll()
  await page.getByRole('link', { name: 'upgrade', exact: false }).first().click()
  await page.goto(`${service.baseUrl}/console/e/${endpoint.id}/settings`)
  await name.waitFor()
  expect(await name.inputValue()).toBe('a draft')
  expect(faults).toEqual([])
})

test('parts that an upgrade has removed ask for a reload, and the rest of the page stays', async () => {
  const service = await startConsoleService()
  const endpoint = await service.alice.endpoint({ name: 'parts' })
  const { id } = await endpoint.capture({ body: '{"kept":true}' })
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/x' })
  const { page, goTo, faults } = await openConsole(service.alice)
  await page.route('**/console/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script src="/console/main-other.js"></script>' }),
  )
  for (const part of ['NewEndpoint', 'Palette', 'LoadedEditor', 'ShareRequest'])
    await page.route(`**/console/${part}-*.js`, (route) => route.fulfill({ status: 404, body: '' }))
  const notices = page.getByRole('alert').filter({ hasText: 'A new version of Creel is there' })
  const row = page.locator('.list [role="row"]').first()
  const open: [path: string, act: () => Promise<void>][] = [
    ['', () => page.keyboard.press('n')],
    ['', () => page.keyboard.press('Control+k')],
    [
      `?r=${id}`,
      async () => {
        await page.getByRole('button', { name: 'More' }).click()
        await page.getByRole('menuitem', { name: /Share/ }).click()
      },
    ],
    // An editor shows its text, too.
    [`?r=${id}&edit=1`, () => page.locator('.sending pre', { hasText: '"kept":true' }).waitFor()],
  ]
  for (const [path, act] of open) {
    await goTo(`/e/${endpoint.id}${path}`)
    await row.waitFor()
    await act()
    await notices.first().getByRole('button', { name: 'Reload' }).waitFor()
    expect(await row.isVisible()).toBe(true)
    expect(await page.getByRole('navigation', { name: 'Workspace' }).isVisible()).toBe(true)
  }
  expect(faults).toEqual([])
})

test('an outage behind a proxy is one, on any screen, until the service answers', async () => {
  const front = await openNetworkPath()
  await using proxy = await startReceiver({
    status: 502,
    headers: { 'Content-Type': 'text/html' },
    body: '<h1>502 Bad Gateway</h1>',
  })
  const service = await startConsoleService({ baseUrl: front.origin })
  const toService = { host: '127.0.0.1', port: service.running.port ?? 0 }
  front.target = toService
  const { page, goTo, faults } = await openConsole(service.alice)
  await goTo('/usage')
  await page.getByRole('heading', { name: 'Usage' }).first().waitFor()
  const note = page.getByText(/The service has not answered since/)
  // As after the service has died behind a proxy: no click is needed to see it.
  front.target = { host: '127.0.0.1', port: proxy.port }
  front.cut()
  await note.waitFor()
  front.target = toService
  await note.waitFor({ state: 'detached' })
  expect(faults).toEqual([])
})

test('a draft of another version is kept as far as it fits, and never the end of a screen', async () => {
  const service = await startConsoleService()
  const endpoint = await service.alice.endpoint({ name: 'drafts' })
  const { page, goTo } = await openConsole(service.alice)
  const keep = (name: string, value: unknown) =>
    page.evaluate(
      ([key, text]) => sessionStorage.setItem(key ?? '', text ?? ''),
      [`draft:${name}`, JSON.stringify(value)],
    )
  await goTo('/usage')
  await keep(`settings ${endpoint.id}`, { draft: { name: 'typed', body: 7 }, began: { name: 'drafts' } })
  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Endpoint name' }).inputValue()).toBe('typed')
  const action = `action form ${endpoint.id} new `
  const condition = { as: 'builder', draft: { kind: 'group', mode: 'all', items: [null] } }
  await keep(action, { draft: { name: 'typed', condition }, began: {} })
  await goTo(`/e/${endpoint.id}/actions/new`)
  await page.getByText('This screen could not be shown').waitFor()
  await page.getByRole('button', { name: 'Discard drafts' }).click()
  await page.getByRole('textbox', { name: 'Name' }).waitFor()
})

test('a part that cannot be loaded reloads no page on which something is typed', async () => {
  const service = await startConsoleService()
  await service.alice.endpoint({ name: 'typed' })
  const { url } = await service.operator.sessions.link({ workspace: service.alice.workspaceId })
  const { page, goTo, faults } = await openConsole(service.alice, {}, url.slice(url.indexOf('#') + 1))
  await page.route('**/console/NewEndpoint-*.js', (route) => route.fulfill({ status: 404, body: '' }))
  await goTo('/access')
  const value = page.getByRole('region', { name: 'Erasures' }).getByRole('textbox')
  await value.fill('ada@example.com')
  await page.getByRole('button', { name: 'New endpoint' }).click()
  await page.getByRole('alert').filter({ hasText: 'A part of this page could not be shown' }).waitFor()
  expect(await value.inputValue()).toBe('ada@example.com')
  expect(faults).toEqual([])
})
