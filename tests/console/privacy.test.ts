import { beforeAll, expect, test } from 'bun:test'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import type { TestService } from '../support/service.ts'

/** Rules that take data out of captures, and erasures, on the page. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
})

test('rules are previewed on a captured and a pasted request, saved, and seen at the next capture', async () => {
  const endpoint = await service.alice.endpoint({ name: 'orders' })
  const json = { headers: { 'Content-Type': 'application/json' } }
  await endpoint.capture({ ...json, body: '{"email":"ada@example.com","id":1}' })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/settings`)
  const card = page.getByRole('region', { name: 'Privacy' })
  await card.getByRole('button', { name: 'Add headers with credentials' }).click()
  await card.getByLabel('Rules before storing').fill('[{"op":')
  await card.getByText('This is not a JSON list yet.').waitFor()
  await card.getByLabel('Rules before storing').fill('[{"op": "redact", "paths": ["body.email"]}]')
  await card.getByRole('button', { name: 'Preview' }).click()
  await card.getByText('Taken out: body.email').waitFor()
  await card.getByText('{"email":"***","id":1}').waitFor()
  await card.getByLabel('Paste a request').fill('plain text')
  await card.getByText('Only a trace would be stored').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({
    storeRules: [{ op: 'redact', paths: ['body.email'] }],
    dropHeaders: expect.arrayContaining(['Authorization', 'Cookie', 'X-Api-Key']),
  })
  const { id } = await endpoint.capture({ ...json, body: '{"email":"ada@example.com","id":2}' })
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByText('Taken out', { exact: true }).waitFor()
  await page.locator('.facts').getByText('body.email').waitFor()
  expect(faults).toEqual([])
})

test('readers of what is taken out are named before saving, and after it', async () => {
  const endpoint = await service.alice.endpoint({ name: 'warned' })
  await service.alice.post(endpoint.at('/actions'), {
    kind: 'forward',
    name: 'Billing',
    url: 'http://127.0.0.1:9/',
    condition: { path: 'body.email', op: 'exists' },
  })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/settings`)
  const card = page.getByRole('region', { name: 'Privacy' })
  await card.getByLabel('Rules before storing').fill('[{"op": "remove", "paths": ["body.email"]}]')
  const words = "The condition of the action 'Billing' reads body.email"
  await card.getByRole('status', { name: 'Readers of what is taken out' }).getByText(words).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.save-bar').getByText(words).waitFor()
  await opened.goTo(`/e/${endpoint.id}/actions`)
  await page.getByRole('link', { name: 'Billing', exact: true }).click()
  await page.getByRole('form', { name: 'Billing' }).getByRole('button', { name: 'Save' }).click()
  await page.locator('.toasts').getByText(words).waitFor()
  expect(faults).toEqual([])
})

test('a request says until when its original is kept, and searches that encrypted text is not searched', async () => {
  const endpoint = await service.alice.endpoint({
    name: 'sealed letters',
    encryptBodies: true,
    dropHeaders: ['X-Secret'],
    forwardOriginal: true,
  })
  await service.alice.post(endpoint.at('/actions'), {
    kind: 'forward',
    name: 'App',
    url: 'http://127.0.0.1:9/',
  })
  const { id } = await endpoint.capture({ body: 'needle', headers: { 'X-Secret': 's' } })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.locator('.facts').getByText('replays send it until then').waitFor()
  await opened.goTo(`/e/${endpoint.id}?q=needle`)
  await page.getByText('encrypted text is not searched').waitFor()
  await opened.goTo('/search?q=needle')
  await page.getByText('The text of encrypted captures is not searched: sealed letters.').waitFor()
  await service.db.deleteFrom('requestOriginals').where('requestId', '=', id).execute()
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText('The original of the request is gone').waitFor()
  expect(faults).toEqual([])
})

test('an erasure is counted, confirmed, and listed with its result', async () => {
  const endpoint = await service.alice.endpoint({ name: 'people' })
  await endpoint.capture({ body: 'mail of kim@example.com' })
  const { page, faults } = opened
  await opened.goTo('/access')
  const card = page.getByRole('region', { name: 'Erasures' })
  await card.getByLabel('Value').fill('kim@example.com')
  await card.getByRole('button', { name: 'Count' }).click()
  await card.getByText('Found 1 capture, ').waitFor()
  await card.getByRole('button', { name: 'Delete…' }).click()
  expect(await endpoint.requests()).toHaveLength(1)
  await card.getByRole('button', { name: 'Confirm: delete all of it' }).click()
  await card.getByText('Deleted 1 capture, ').waitFor()
  expect(await endpoint.requests()).toHaveLength(0)
  expect(faults).toEqual([])
})
