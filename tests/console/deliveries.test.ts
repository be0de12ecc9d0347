import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import { type ConsolePage, holdCalls, openConsole, startConsoleService } from '../support/console.ts'
import { startEcho } from '../support/echo.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
})

const WithId = z.looseObject({ id: z.string() })

test('a replay shows its outcome, and what was sent and received', async () => {
  await using receiver = await startReceiver({ status: 201, body: '{"made":true}' })
  const endpoint = await service.alice.endpoint({ name: 'replay' })
  await endpoint.capture({ body: '{"a":1}' })
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: receiver.url })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator('.list [role="row"]').first().click()
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText(/Billing: 201 in/).waitFor()
  await page.getByRole('button', { name: /201 Replay/ }).click()
  await page.getByRole('region', { name: 'Received' }).getByText('made').waitFor()
  const [received] = await receiver.take(1)
  expect(received?.body.toString()).toBe('{"a":1}')
  expect(faults).toEqual([])
})

test('a replay that is answered when another request is open leaves that as it is', async () => {
  await using receiver = await startReceiver({ status: 200 })
  const endpoint = await service.alice.endpoint({ name: 'late replay' })
  const [first, second] = await endpoint.captureMany(2)
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${second?.id}`)
  const held = await holdCalls(page, /requests\.replay/)
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await held.called
  await page.keyboard.press('j')
  await page.waitForURL(`**r=${first?.id}`)
  const places: string[] = []
  page.on('framenavigated', (frame) => places.push(frame.url()))
  const answered = page.waitForResponse(/requests\.replay/)
  held.release()
  await (await answered).finished()
  await page.getByRole('tab', { name: /Headers/ }).click()
  await page.locator('#panel-headers').waitFor()
  expect(places.filter((place) => place.includes('tab=deliveries'))).toEqual([])
  expect(faults).toEqual([])
})

test('actions of one name are shown apart, each with its attempts and what is due', async () => {
  await using good = await startReceiver({ status: 200 })
  await using bad = await startReceiver({ status: 500 })
  const endpoint = await service.alice.endpoint({ name: 'twins' })
  const name = 'Same \u202ename'
  for (const { url } of [good, bad])
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name, url })
  const { id } = await endpoint.capture()
  await Promise.all([good.take(1), bad.take(1)])
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}&tab=deliveries`)
  const named = page.locator('#panel-deliveries').getByRole('region', { name: 'Same ⟨U+202E⟩name' })
  const answered = (status: string) =>
    named.filter({ has: page.locator('.attempt-code').getByText(status, { exact: true }) })
  await answered('500').getByRole('button', { name: 'Retry now' }).waitFor()
  await answered('200').waitFor()
  expect(await answered('500').locator('.attempt-code').allTextContents()).not.toContain('200')
  expect(await named.count()).toBe(2)
  expect(faults).toEqual([])
})

test('a capture is changed and sent; a refusal and a reload lose nothing that was typed', async () => {
  await using receiver = await startReceiver({ status: 422, body: 'field customer.zip' })
  const endpoint = await service.alice.endpoint({ name: 'edit' })
  await endpoint.capture({ body: '{"amount":1.10}', headers: { 'x-a': 'one' } })
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: receiver.url })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator('.list [role="row"]').first().click()
  await page.getByRole('tab', { name: /Body/ }).waitFor()
  await page.keyboard.press('e')
  const dialog = page.getByRole('dialog', { name: 'Edit and send' })
  const body = dialog.getByRole('textbox', { name: 'Body to send' })
  // Not by a click: parts that load meanwhile may move the editor.
  await body.press('Control+a')
  await body.press('Backspace')
  // Key by key: the text is not JSON until the last one. On a slow machine keys come faster than the page is drawn.
  await opened.slowedDown(10, () => body.pressSequentially('{"amount":990.00}'))
  await dialog.getByText('differs in 1 line').waitFor()
  await dialog.getByRole('textbox', { name: 'Method' }).fill('PO ST')
  await dialog.getByRole('button', { name: /^Send/ }).click()
  await dialog.getByText('must be an HTTP method').waitFor()
  await page.reload()
  await dialog.getByText('differs in 2 lines').waitFor()
  await dialog.getByRole('textbox', { name: 'Method' }).fill('PUT')
  await dialog.getByRole('button', { name: /^Send/ }).click()
  await dialog.getByText('HTTP 422').waitFor()
  await dialog.getByText('field customer.zip').waitFor()
  const [received] = await receiver.take(1)
  expect([received?.method, received?.body.toString(), received?.header('x-a')]).toEqual([
    'PUT',
    '{"amount":990.00}',
    'one',
  ])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('4')
  await page.getByRole('button', { name: /422 Edited/ }).waitFor()
  // An action that is not listed is not shown as another choice.
  const gone = crypto.randomUUID()
  await opened.goTo(`/e/${endpoint.id}/deliveries?action=${gone}`)
  const chosen = page.getByLabel('Action').locator('option:checked', { hasText: gone })
  await chosen.waitFor({ state: 'attached' })
  expect(faults).toEqual([])
})

test('a rule is tried as it is typed, saved, changed and restored; a refusal loses nothing', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint({ name: 'rules' })
  await endpoint.capture({ body: '{"secret":"hush","amount":1}', headers: { 'X-Kept': '1' } })
  const action = await service.alice.expect(
    service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url }),
    WithId,
  )
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/rules/new?action=${action.id}`)
  await page.getByRole('radiogroup', { name: 'Edit the rule as' }).getByText('JSON').click()
  const editor = page.getByRole('textbox', { name: 'Rule' })
  const type = async (rule: unknown) => {
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(JSON.stringify(rule))
  }
  await type({ version: 1, name: 'Slim', steps: [{ op: 'forget', paths: ['body.secret'] }] })
  await page.getByRole('button', { name: /Save as v1/ }).click()
  await page
    .getByRole('alert')
    .getByText(/steps\/0\/op/)
    .waitFor()
  await page.reload()
  await page.getByText('"forget"', { exact: true }).first().waitFor()
  await type({ version: 1, name: 'Slim', steps: [{ op: 'remove', paths: ['body.secret'] }] })
  await page.locator('[data-change="removed"]', { hasText: 'hush' }).waitFor()
  await page.getByText('Headers: no change').waitFor()
  const set = { op: 'set', path: 'headers.X-Summary', value: 'an order' }
  await type({ version: 1, name: 'Slim', steps: [set, { op: 'remove', paths: ['headers.X-Kept'] }] })
  const headers = page.getByRole('region', { name: 'Changed headers' })
  await headers.locator('[data-change="added"]', { hasText: /^\+x-summary: an order$/i }).waitFor()
  await headers.locator('[data-change="removed"]', { hasText: 'x-kept: 1' }).waitFor()
  expect(await headers.locator('p').count()).toBe(2)
  await type({ version: 1, name: 'Slim', steps: [{ op: 'remove', paths: ['body.secret'] }] })
  await page.locator('[data-change="removed"]', { hasText: 'hush' }).waitFor()
  await page.getByRole('button', { name: /Save as v1/ }).click()
  await page.getByRole('button', { name: /Save as v2/ }).waitFor()
  await type({ version: 1, name: 'Slimmer', steps: [{ op: 'remove', paths: ['body.amount'] }] })
  await page.getByRole('button', { name: /Save as v2/ }).click()
  await page.getByRole('button', { name: 'Restore v1' }).click()
  await page.getByRole('button', { name: /Save as v4/ }).waitFor()
  await page.getByText('restored from v1').waitFor()
  // Another user saves while this page is open: both versions are shown, and nothing is overwritten unseen.
  const ruleId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const rule = (name: string) => ({ version: 1, name, steps: [{ op: 'remove', paths: ['body.amount'] }] })
  await service.alice.put(endpoint.at(`/transformations/${ruleId}`), { rule: rule('Theirs') })
  await type(rule('Mine'))
  // A restore would discard the draft.
  await page.getByText('Save or reset your changes before you restore a version.').waitFor()
  expect(await page.getByRole('button', { name: 'Restore v1' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: /Save as v/ }).click()
  const conflict = page.getByRole('alert', { name: 'Changed elsewhere' })
  await conflict.getByText('"Theirs"').waitFor()
  await conflict.getByText('"Mine"').waitFor()
  await conflict.getByRole('button', { name: 'Keep my values' }).click()
  await page.getByRole('button', { name: /Save as v/ }).click()
  await page.getByText('Mine saved as v5').waitFor()
  expect(faults).toEqual([])
})

test('after its key was revoked, the open page asks to sign in again and keeps its place', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint({ name: 'revoked' })
  await endpoint.capture()
  const { page, goTo } = await openConsole(client)
  await goTo(`/e/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await service.operator.keys.revoke({ workspace: client.workspaceId, key: client.key.slice(0, 17) })
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  const { key } = await service.operator.keys.create({ workspace: client.workspaceId, name: 'next' })
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.list [role="row"]').first().waitFor()
})

test('a save without a session says so, asks to sign in again and keeps what was typed', async () => {
  const endpoint = await service.alice.endpoint({ name: 'before' })
  const { page, goTo } = await openConsole(service.alice)
  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByLabel('Endpoint name').fill('after')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  await page.locator('.save-bar').getByText('The session has ended. Sign in again.').waitFor()
  expect(await page.locator('body').textContent()).not.toContain('Bearer')
  await page.getByLabel('API key').fill(service.alice.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  expect(await page.getByLabel('Endpoint name').inputValue()).toBe('after')
})

test('a sign-in in another tab is enough, and a page of another workspace begins anew', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint({ name: 'mine' })
  await endpoint.capture()
  const other = await service.newClient()
  await other.endpoint({ name: 'of the other' })
  const linkOf = async (workspace: string) => (await service.operator.sessions.link({ workspace })).url
  const { page, goTo, faults } = await openConsole(client)
  await goTo(`/e/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await service.operator.keys.revoke({ workspace: client.workspaceId, key: client.key.slice(0, 17) })
  const asked = page.getByRole('dialog', { name: 'Sign in again' })
  await asked.waitFor()
  const tab = await page.context().newPage()
  await tab.goto(await linkOf(client.workspaceId), { waitUntil: 'commit' })
  await asked.waitFor({ state: 'detached' })
  await page.getByText('Live', { exact: true }).waitFor()
  await tab.goto('about:blank')
  await tab.goto(await linkOf(other.workspaceId), { waitUntil: 'commit' })
  await page
    .getByRole('link', { name: /of the other/ })
    .first()
    .waitFor()
  await page.getByRole('link', { name: /mine/ }).first().waitFor({ state: 'detached' })
  expect(faults).toEqual([])
})

test('a sign-in to another workspace offers no draft of the one before', async () => {
  const client = await service.newClient()
  await client.endpoint({ name: 'mine' })
  const other = await service.newClient()
  await other.endpoint({ name: 'of the other' })
  const { page, goTo, faults } = await openConsole(client)
  await goTo('/watchdogs/new')
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('of mine')
  await page.getByRole('link', { name: /mine/ }).first().waitFor()
  await page.reload()
  await page.getByRole('link', { name: /mine/ }).first().waitFor()
  expect(await name.inputValue()).toBe('of mine')
  await page.context().clearCookies()
  await page.reload()
  await page.getByLabel('API key').fill(other.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page
    .getByRole('link', { name: /of the other/ })
    .first()
    .waitFor()
  expect(await name.inputValue()).toBe('')
  expect(faults).toEqual([])
})

test('dead letters are counted by action, and replayed only where they are', async () => {
  await using good = await startReceiver()
  await using bad = await startReceiver({ status: 500 })
  const endpoint = await service.alice.endpoint({ name: 'dead letters' })
  const forward = { kind: 'forward', delivery: { retry: { delays: [] } } }
  const { id: actionId } = await service.alice.expect(
    service.alice.post(endpoint.at('/actions'), { ...forward, name: 'Good', url: good.url }),
    WithId,
  )
  await service.alice.post(endpoint.at('/actions'), { ...forward, name: 'Bad', url: bad.url })
  const { id } = await endpoint.capture()
  await attemptsEnded(service, endpoint, 2)
  // The latest delivery has succeeded.
  await service.alice.post(endpoint.at(`/requests/${id}/replay?actionId=${actionId}`))
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/deliveries`)
  bad.answer = { status: 200 }
  await page.getByRole('button', { name: 'Replay all 1' }).click()
  await bad.take(2)
  await page.getByRole('button', { name: 'Replay all 1' }).waitFor({ state: 'detached' })
  expect(good.received.length).toBe(2)
  expect(faults).toEqual([])
})

test('a link signs an owner in once; a key that is made is shown once', async () => {
  const client = await service.newClient()
  const { url } = await service.operator.sessions.link({ workspace: client.workspaceId })
  const { page, goTo, faults } = await openConsole(client, {}, url.slice(url.indexOf('#') + 1))
  await goTo('/access')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('ci')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await page.locator('.one-time code').textContent()
  expect(key).toStartWith('creel_live_')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('rowheader', { name: 'ci' }).waitFor()
  expect(await page.getByText(key ?? '').count()).toBe(0)
  await goTo('/audit')
  await page.getByRole('listitem').filter({ hasText: 'Owner created the API key ci' }).waitFor()
  expect(faults).toEqual([])
})

test('a subscription of an agent is shown, and ended', async () => {
  const { alice } = service
  await alice.endpoint({ name: 'subscribed' })
  await alice.get('/api/v1/events/types')
  await using callback = await startEcho()
  const delivery = { mode: 'webhook', url: callback.url, secret: `whsec_${'c2VjcmV0'.repeat(4)}` }
  const made = alice.post('/api/v1/subscriptions', { name: 'subscribed.any', delivery })
  const { id } = await alice.expect(made, WithId)
  const { page, goTo, faults } = await openConsole(alice)
  await goTo('/access')
  const row = page.getByRole('row').filter({ hasText: 'subscribed.any' })
  await row.getByText(new URL(callback.url).host).waitFor()
  await row.getByRole('button', { name: 'End' }).click()
  await page.getByText('No subscriptions.').waitFor()
  expect((await alice.get(`/api/v1/subscriptions/${id}`)).status).toBe(404)
  expect(faults).toEqual([])
})
