import { beforeAll, expect, test } from 'bun:test'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Details of screens that a newcomer stumbled over. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
})

test('a search marks what matched, and says where it did if that is not shown', async () => {
  const endpoint = await service.alice.endpoint({ name: 'found' })
  await endpoint.capture({ body: '{"type":"order.made","amount_PAID":1}' })
  await endpoint.capture({ body: JSON.stringify({ type: 'order.long', text: 'x'.repeat(3000), of: 'paid' }) })
  const { page, faults } = opened
  await opened.goTo('/search?q=paid')
  const rows = page.locator('.found-row')
  await rows.nth(1).waitFor()
  expect(await rows.locator('mark').allTextContents()).toEqual(['PAID'])
  expect(await rows.first().textContent()).toContain('found further on')
  expect(faults).toEqual([])
})

test('attempts name their event and their action in full', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint({ name: 'named' })
  const name = 'Warehouse of the shop in Europe, second floor'
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name, url: receiver.url })
  await endpoint.capture({ body: '{"type":"order.paid"}' })
  await receiver.take(1)
  await opened.goTo(`/e/${endpoint.id}/deliveries`)
  const { page } = opened
  await page.getByText('order.paid').waitFor()
  const about = page.locator('.attempt-about').first()
  expect(await about.textContent()).toContain(name)
  // Not cut.
  expect(
    await page.evaluate(
      '(() => { const e = document.querySelector(".attempt-about"); return e.scrollWidth <= e.clientWidth + 1 })()',
    ),
  ).toBe(true)
})

test('the dialog of a sample focuses a field, so that Enter does not close it', async () => {
  const endpoint = await service.alice.endpoint({ name: 'sampled' })
  await opened.goTo(`/e/${endpoint.id}?sample=1`)
  const { page } = opened
  await page.getByRole('dialog').getByLabel('Provider').waitFor()
  await page.locator('dialog select:focus').waitFor()
})

test('Alt and arrows move an action, but not while its form is typed in', async () => {
  const endpoint = await service.alice.endpoint({ name: 'in order' })
  for (const name of ['A', 'B', 'C'])
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name, url: 'http://127.0.0.1:9/' })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/actions`)
  await page.getByRole('link', { name: 'A', exact: true }).click()
  await page.getByLabel('Name', { exact: true }).press('Alt+ArrowDown')
  await page.getByRole('link', { name: 'C', exact: true }).press('Alt+ArrowUp')
  const names = page.locator('.item-name')
  await eventually('the move', async () => (await names.allTextContents())[2] !== 'C')
  expect(await names.allTextContents()).toEqual(['A', 'C', 'B'])
  expect(faults).toEqual([])
})

test('Enter that ends the composition of a word runs no command', async () => {
  const { page, faults } = opened
  await opened.goTo('/health')
  await page.getByRole('heading', { name: 'Health' }).first().waitFor()
  await page.keyboard.press('Control+k')
  // Letters that are typed before it has opened are shortcuts of the page.
  await page.getByRole('combobox', { name: 'Go to a page or run a command' }).fill('usage')
  await page.getByRole('option', { name: 'Usage and limits', selected: true }).waitFor()
  await page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
    { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))`)
  await page.getByRole('option', { name: 'Usage and limits' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/health')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/usage')

  const endpoint = await service.alice.endpoint({ name: 'composed' })
  await opened.goTo(`/e/${endpoint.id}/settings`)
  const provider = page.getByRole('combobox', { name: 'Provider' })
  await provider.fill('strip')
  await page
    .getByRole('option', { name: /^Stripe/ })
    .first()
    .waitFor()
  await page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
    { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))`)
  await page
    .getByRole('option', { name: /^Stripe/ })
    .first()
    .waitFor()
  expect(await provider.inputValue()).toBe('strip')
  expect(faults).toEqual([])
})

test('each page has its own title, also after another one', async () => {
  const { page, faults } = opened
  const endpoint = await service.alice.endpoint({ name: 'titled' })
  const { id } = await endpoint.capture({ body: '{}' })
  const go = (path: string) => page.evaluate(`history.pushState(null, '', '/console${path}')`)
  const titled = (title: string) => eventually(title, async () => (await page.title()) === title)
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await titled('POST / · titled · Creel')
  await go('/health')
  await titled('Health · Creel')
  // All of it is known by now, so that its parts are shown at once.
  await go(`/e/${endpoint.id}?r=${id}`)
  await titled('POST / · titled · Creel')
  await service.alice.patch(endpoint.at(''), { name: 'renamed' })
  await titled('POST / · renamed · Creel')
  await go(`/e/${endpoint.id}`)
  await titled('renamed · Creel')
  await go('/nope')
  await titled('There is no such page · Creel')
  expect(faults).toEqual([])
})

test('an unknown address and a missing request say so', async () => {
  const { page } = opened
  await opened.goTo('/nope')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  const endpoint = await service.alice.endpoint({ name: 'empty' })
  await opened.goTo(`/e/${endpoint.id}?r=4711`)
  await page.getByRole('link', { name: 'Look in the recycle bin' }).waitFor()
  await page.getByRole('tab').first().waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
})

test('a sign-in link that was used already opens the page of a browser that is signed in', async () => {
  const { url } = await service.operator.sessions.link({ workspace: service.alice.workspaceId })
  const token = url.split('#')[1] ?? ''
  const owner = await openConsole(service.alice, {}, token)
  await owner.goTo(`/sign-in#${token}`)
  await owner.page.getByRole('navigation', { name: 'Workspace' }).waitFor()
  await owner.page.context().clearCookies()
  await owner.goTo(`/sign-in?again#${token}`)
  await owner.page.getByText('The sign-in link was used already').waitFor()
  // The key was not wrong.
  expect(await owner.page.getByLabel('API key').getAttribute('aria-invalid')).toBe('false')
})

test('who signs out is told when the session is not ended, and leaves no draft', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint({ name: 'left' })
  const { page, goTo, faults } = await openConsole(client)
  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByLabel('Endpoint name').fill('a draft')
  const out = page.getByRole('button', { name: 'Sign out' })
  const drafts = () => page.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('draft:'))`)
  // The header of the real answer clears them only where the page came over TLS.
  const end = (status: number) =>
    page.route('**/console/session', (route) => route.fulfill({ status, body: '' }), { times: 1 })
  await page.route('**/console/session', (route) => route.abort(), { times: 1 })
  await out.click()
  await page.getByText('You are still signed in: the service cannot be reached.').waitFor()
  await end(503)
  await out.click()
  await page.getByText('You are still signed in: the service answered 503.').waitFor()
  expect(await page.getByLabel('Endpoint name').inputValue()).toBe('a draft')
  expect(await drafts()).not.toEqual([])
  await end(204)
  await out.click()
  await page.waitForURL('**/sign-in')
  expect(await drafts()).toEqual([])
  expect(faults).toEqual([])
})

test('a search is saved in the browser, offered first, and forgotten', async () => {
  const endpoint = await service.alice.endpoint({ name: 'saved' })
  await endpoint.capture({ body: '{"type":"order.paid"}' })
  const { page, faults } = opened
  const search = page.getByRole('combobox', { name: 'Search captures' })
  await opened.goTo(`/e/${endpoint.id}`)
  await search.fill('state:failed since:2h')
  await page.getByRole('button', { name: 'Save this search' }).click()
  await page.getByRole('button', { name: 'Forget this search' }).waitFor()
  await search.fill('label:other')
  await search.press('Enter')
  await page.reload()
  await search.fill('')
  const offered = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
  await offered.first().getByText('saved search').waitFor()
  await offered.first().click()
  expect((await search.inputValue()).trim()).toBe('state:failed since:2h')
  await page.getByRole('button', { name: 'Forget this search' }).click()
  await search.fill('')
  await offered.first().waitFor()
  expect(await offered.getByText('saved search').count()).toBe(0)
  // A blank stays while the list is searched: more is typed behind it.
  await search.pressSequentially('order ')
  await page.waitForURL('**?q=order')
  await search.pressSequentially('paid')
  await page.waitForURL('**?q=order+paid')
  expect(faults).toEqual([])
})

test('a screen whose read failed offers another try, and shows no number or table that it does not know', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'read again' })
  await alice.post('/api/v1/keys', { name: 'ci', scope: 'read' })
  await endpoint.capture()
  const { page, goTo } = await openConsole(alice)
  const error = { message: 'Not now', code: -32603, data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 } }
  const failing = (name: string) =>
    page.route(
      ({ pathname }) => pathname.includes(name),
      (route) => {
        const calls = new URL(route.request().url()).pathname.split(',')
        return route.fulfill({ status: 500, json: calls.map(() => ({ error })) })
      },
    )
  // A batch of calls fails as one.
  const again = page.getByRole('button', { name: 'Try again' }).first()
  const readAgain = async () => {
    await page.unrouteAll()
    await again.click()
  }
  await failing('endpoints.get')
  await goTo(`/e/${endpoint.id}/settings`)
  await again.waitFor()
  await readAgain()
  await page.getByRole('textbox', { name: 'Endpoint name' }).waitFor()

  await failing('keys.list')
  await goTo('/access')
  await again.waitFor()
  expect(await page.getByRole('columnheader', { name: 'Prefix' }).count()).toBe(0)
  await readAgain()
  await page.getByRole('button', { name: 'Revoke… ci', exact: true }).click()
  await page.getByRole('button', { name: 'Confirm: revoke ci', exact: true }).waitFor()

  await failing('recycleBin.list')
  await goTo('/bin')
  await again.waitFor()
  expect(await page.getByText('0 requests').count()).toBe(0)
  await readAgain()
  await page.getByText('0 requests').waitFor()

  await failing('deliveries.list')
  await goTo(`/e/${endpoint.id}/deliveries`)
  await again.waitFor()
  expect(await page.getByText('0 attempts').count()).toBe(0)
  await readAgain()
  await page.getByText('0 attempts').waitFor()

  await failing('requests.list')
  await goTo(`/e/${endpoint.id}`)
  await page.locator('.banner').getByRole('button', { name: 'Try again' }).waitFor()
  expect(await page.getByText('0 stored').count()).toBe(0)
  await goTo('/search?q=method:POST')
  await page.getByText('Searched 0 of 1 endpoint').waitFor()
  await readAgain()
  await page.getByText('1 result in 1 endpoint').waitFor()
})
