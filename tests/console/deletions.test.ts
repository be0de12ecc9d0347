import { beforeAll, expect, test } from 'bun:test'
import { type ConsolePage, holdCalls, openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import type { TestService } from '../support/service.ts'

/** Captures are deleted from the list, one by one and in bulk, and come back. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService({ parts: ['gateway'], limits: { captureRatePerMinute: 100_000 } })
  opened = await openConsole(service.alice)
})

const rows = '.list [role="row"]'

test('each note takes back its own deletion, and the key the latest that is left', async () => {
  const endpoint = await service.alice.endpoint({ name: 'two notes' })
  const [first, second, third] = await endpoint.captureMany(3)
  const { page, faults } = opened
  const stored = async () => (await endpoint.requests()).map(({ id }) => id)
  const removed = async (id: number | undefined, left: number) => {
    await page.keyboard.press('j')
    await page.waitForURL(`**r=${id}*`)
    await page.keyboard.press('Delete')
    await page.getByText(`${left} stored`).waitFor()
  }
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).nth(2).waitFor()
  await removed(third?.id, 2)
  await removed(second?.id, 1)
  await page.getByRole('button', { name: 'Undo' }).nth(1).waitFor()
  await page.getByRole('button', { name: 'Undo' }).first().click()
  await page.getByText('2 stored').waitFor()
  await eventually('the older deletion', async () => (await stored()).length === 2)
  expect(await stored()).toEqual([third?.id ?? 0, first?.id ?? 0])
  await page.keyboard.press('z')
  await page.locator(rows).nth(2).waitFor()
  await eventually('the younger deletion', async () => (await stored()).length === 3)
  expect(faults).toEqual([])
})

test('the key deletes all matches as the button does, and the bin gives back more than one call takes', async () => {
  const endpoint = await service.alice.endpoint({ name: 'many \u202edeleted' })
  const all = 510
  await endpoint.captureMany(all, { body: '{"type":"some\u202ething"}' })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: `All ${all} matches` }).click()
  await page.keyboard.press('Delete')
  await page.getByText(`${all} moved to the recycle bin`).waitFor()
  await page.getByText('Waiting for the first webhook').waitFor()

  await opened.goTo('/bin')
  await page.getByRole('cell', { name: 'many ⟨U+202E⟩deleted' }).first().waitFor()
  await page.getByRole('rowheader', { name: 'some⟨U+202E⟩thing' }).first().waitFor()
  for (let shown = 100; shown < all; shown += 100) {
    await page
      .locator('tbody tr')
      .nth(shown - 1)
      .waitFor()
    await page.getByRole('button', { name: 'More', exact: true }).click()
  }
  await page
    .locator('tbody tr')
    .nth(all - 1)
    .waitFor()
  await page.getByRole('button', { name: 'Select all shown' }).click()
  await page.getByRole('button', { name: `Restore ${all} requests` }).click()
  await page.getByText(`${all} requests restored`).waitFor()
  await page.getByText('The recycle bin is empty').waitFor()
  expect(faults).toEqual([])
})

test('the key does not undo an older deletion in place of one that it cannot undo', async () => {
  const endpoint = await service.alice.endpoint({ name: 'older' })
  await endpoint.captureMany(3)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  await page.keyboard.press('Delete')
  await page.getByText('2 stored').waitFor()
  await page.locator(rows).first().click()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'All 2 matches' }).click()
  await page.keyboard.press('Delete')
  await page.getByText('2 moved to the recycle bin').waitFor()
  await page.keyboard.press('z')
  await page.getByText('can be restored from the recycle bin').waitFor()
  expect(await endpoint.requests()).toEqual([])
  expect(faults).toEqual([])
})

test('an open capture that is deleted with all matches is closed, also if its row is not loaded', async () => {
  const endpoint = await service.alice.endpoint({ name: 'far down' })
  const [oldest] = await endpoint.captureMany(150)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${oldest?.id}`)
  await page.getByRole('complementary', { name: 'Request' }).waitFor()
  await page.locator(rows).first().waitFor()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'All 150 matches' }).click()
  await page.keyboard.press('Delete')
  await page.getByText('150 moved to the recycle bin').waitFor()
  await page.getByRole('complementary', { name: 'Request' }).waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.has('r')).toBe(false)
  expect(faults).toEqual([])
})

test('what is being deleted does not come back with another search', async () => {
  const endpoint = await service.alice.endpoint({ name: 'searched meanwhile' })
  await endpoint.captureMany(2)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).nth(1).waitFor()
  await page.locator(rows).first().click()
  const held = await holdCalls(page, /requests\.bulkDelete/)
  await page.keyboard.press('Delete')
  await page.getByText('1 stored').waitFor()
  await held.called
  await page.locator('#search').fill('method:POST')
  await page.getByText('2 match').waitFor()
  held.release()
  await page.getByText('1 request moved to the recycle bin').waitFor()
  await page.getByText('1 match').waitFor()
  expect(await page.locator(rows).count()).toBe(1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('2 match').waitFor()
  expect(faults).toEqual([])
})

test('what was deleted elsewhere leaves the list, and is not restored from here', async () => {
  const endpoint = await service.alice.endpoint({ name: 'elsewhere' })
  const [first, second] = await endpoint.captureMany(3)
  const { page } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${second?.id}`)
  await page.locator(rows).nth(2).waitFor()
  await page.locator('.line').first().waitFor()
  await service.alice.delete(endpoint.at(`/requests/${second?.id}`))
  await page.keyboard.press('Delete')
  await page.getByText('0 requests moved to the recycle bin').waitFor()
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await page.keyboard.press('z')
  await service.alice.delete(endpoint.at(`/requests/${first?.id}`))
  await page.locator(rows).nth(1).click()
  await page.getByRole('link', { name: 'Look in the recycle bin' }).waitFor()
  await page.getByText('1 stored').waitFor()
  expect(await page.locator(rows).count()).toBe(1)
  expect(await endpoint.requests()).toHaveLength(1)
})

test('what is no longer in the bin does not come back to the list', async () => {
  const endpoint = await service.alice.endpoint({ name: 'gone for good' })
  const [first] = await endpoint.captureMany(2)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  await page.keyboard.press('Delete')
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  // As old as what the bin no longer keeps.
  await service.db
    .updateTable('requests')
    .set({ deletedAt: new Date(0) })
    .where('endpointId', '=', endpoint.id)
    .where('deletedAt', 'is not', null)
    .execute()
  await page.keyboard.press('z')
  await page.getByText('0 requests restored, 1 no longer in the recycle bin').waitFor()
  expect((await endpoint.requests()).map(({ id }) => id)).toEqual([first?.id ?? 0])
  expect(await page.locator(rows).count()).toBe(1)
  expect(faults).toEqual([])
})

test('while one operation runs, another is refused aloud and keeps its selection', async () => {
  const endpoint = await service.alice.endpoint({ name: 'busy' })
  await endpoint.captureMany(2)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  const held = await holdCalls(page, /requests\.bulkReplay/)
  const replay = async () => {
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('menuitem', { name: 'Through all matching actions' }).click()
  }
  await replay()
  await page.getByRole('progressbar').waitFor()
  await replay()
  await page.getByText('another operation is still running').waitFor()
  await page.getByText('1 selected').waitFor()
  await page.getByRole('button', { name: 'All 2 matches' }).click()
  await page.keyboard.press('Delete')
  await page.getByText('another operation is still running').nth(1).waitFor()
  expect(await page.locator(rows).count()).toBe(2)
  held.release()
  await page.getByRole('button', { name: 'Dismiss' }).waitFor()
  expect(faults).toEqual([])
})

test('all matches are those of the list, without what a paused one holds back', async () => {
  const endpoint = await service.alice.endpoint({ name: 'held back' })
  await endpoint.captureMany(3)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.keyboard.press('p')
  await page.getByText('Paused', { exact: true }).waitFor()
  const held = await endpoint.captureMany(2)
  await page.getByRole('button', { name: 'Show 2' }).waitFor()
  await page.locator(rows).first().click()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'All 3 matches' }).click()
  await page.keyboard.press('Delete')
  await page.getByText('3 moved to the recycle bin').waitFor()
  expect((await endpoint.requests()).map(({ id }) => id)).toEqual(held.map(({ id }) => id).reverse())
  await page.keyboard.press('p')
  await page.locator(rows).nth(1).waitFor()
  expect(faults).toEqual([])
})

test('a deletion of more than is loaded, which is stopped, leaves the rest in the list', async () => {
  const endpoint = await service.alice.endpoint({ name: 'stopped' })
  const all = 510
  await endpoint.captureMany(all)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: `All ${all} matches` }).click()
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  const isSelect = ({ pathname }: URL) => pathname.includes('requests.select')
  await page.route(isSelect, async (route) => {
    asked += 1
    if (asked > 1) {
      reached.resolve()
      await released.promise
    }
    await route.continue()
  })
  await page.keyboard.press('Delete')
  await reached.promise
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  released.resolve()
  await page.getByText(', stopped').waitFor()
  await page.locator(rows).nth(9).waitFor()
  expect(await page.locator(rows).count()).toBe(10)
  await page.unroute(isSelect)
  expect(faults).toEqual([])
})

test('a deletion that waits for its budget ends when it is stopped, and has not failed', async () => {
  const endpoint = await service.alice.endpoint({ name: 'over budget' })
  await endpoint.captureMany(2)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'All 2 matches' }).click()
  const isDelete = ({ pathname }: URL) => pathname.includes('requests.bulkDelete')
  const error = { message: 'over budget', code: -32029, data: { httpStatus: 429 } }
  await page.route(isDelete, (route) =>
    route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, json: [{ error }] }),
  )
  const refused = page.waitForResponse((response) => response.status() === 429)
  await page.keyboard.press('Delete')
  await refused
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByRole('button', { name: 'Dismiss' }).waitFor()
  expect(await page.locator('.progress').textContent()).toBe('0 moved to the recycle bin, stoppedDismiss')
  expect(await page.locator(rows).count()).toBe(2)
  await page.unroute(isDelete)
  expect(faults).toEqual([])
})

test('the key undoes the latest deletion before its answer, again after a refusal, and after a search', async () => {
  const endpoint = await service.alice.endpoint({ name: 'at once' })
  const [first, second, third] = await endpoint.captureMany(3)
  const { page, faults } = opened
  const stored = async () => (await endpoint.requests()).map(({ id }) => id)
  await opened.goTo(`/e/${endpoint.id}`)
  await page.locator(rows).first().click()
  await page.keyboard.press('Delete')
  await page.getByText('2 stored').waitFor()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  const held = await holdCalls(page, /requests\.bulkDelete/)
  await page.locator(rows).first().click()
  await page.keyboard.press('Delete')
  await held.called
  await page.getByText('1 stored').waitFor()
  await page.keyboard.press('z')
  held.release()
  await page.locator(rows).nth(1).waitFor()
  expect(await stored()).toEqual([second?.id ?? 0, first?.id ?? 0])

  const isRestore = ({ pathname }: URL) => pathname.includes('recycleBin.restore')
  await page.route(isRestore, (route) => route.abort(), { times: 1 })
  const failed = page.waitForEvent('requestfailed')
  await page.keyboard.press('z')
  await failed
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('method:post')
  await page.keyboard.press('Enter')
  await page.getByText('2 match').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('z')
  await page.getByText('3 match').waitFor()
  expect(await stored()).toEqual([third?.id ?? 0, second?.id ?? 0, first?.id ?? 0])
  expect(faults).toEqual([])
})

test('the bin shows each request once while more are deleted, and says what is gone', async () => {
  const { alice } = await startConsoleService({
    parts: ['gateway'],
    limits: { captureRatePerMinute: 100_000 },
  })
  const endpoint = await alice.endpoint({ name: 'more' })
  const ids = (await endpoint.captureMany(130)).map(({ id }) => id)
  const deleted = (requestIds: number[]) => alice.post(endpoint.at('/requests/bulk-delete'), { requestIds })
  await deleted(ids.slice(0, 120))
  const { page, goTo, faults } = await openConsole(alice)
  await goTo('/bin')
  await page.locator('tbody tr').nth(99).waitFor()
  await deleted(ids.slice(120))
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.locator('tbody tr').nth(110).waitFor()
  const shown = await page.locator('tbody th').allTextContents()
  expect(shown.length).toBe(new Set(shown).size)

  await page.getByLabel(`Select #${ids[119]}`).check()
  await alice.post('/api/v1/recycle-bin/restore', { requestIds: [ids[119]] })
  await page.getByRole('button', { name: 'Restore 1 request' }).click()
  await page.getByText('0 requests restored, 1 no longer in the recycle bin').waitFor()
  expect(faults).toEqual([])
})

test('the focus goes to the next row, else the one before, else the heading or the list', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'focus' })
  const [first] = await endpoint.captureMany(2)
  const actionsAt = endpoint.at('/actions')
  for (const name of ['one', 'two', 'three'])
    await alice.post(actionsAt, { kind: 'forward', name, url: 'https://example.com/' })
  for (let made = 0; made < 2; made += 1)
    await alice.post(endpoint.at(`/requests/${first?.id}/share-links`), { expiresInSeconds: 3600 })
  const { page, faults } = opened
  const focused = () =>
    page.evaluate<string>(`(() => {
      const { activeElement: { className, tagName, textContent } } = document
      return className === 'list' ? 'list' : tagName === 'BODY' ? tagName : textContent
    })()`)
  const isOn = (what: string) =>
    eventually(`the focus on ${what}`, async () => (await focused()).includes(what))

  await opened.goTo(`/e/${endpoint.id}?r=${first?.id}`)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: /Share/ }).click()
  const links = page.getByRole('list', { name: 'Links of this request' }).getByRole('listitem')
  await links.nth(1).waitFor()
  await links.first().getByRole('button', { name: 'Revoke' }).focus()
  await page.keyboard.press('Enter')
  await links.nth(1).waitFor({ state: 'detached' })
  await isOn('Revoke')
  await links.getByRole('button', { name: 'Revoke' }).focus()
  await page.keyboard.press('Enter')
  await links.waitFor({ state: 'detached' })
  await isOn('Share #')
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: /recycle bin/ }).click()
  await page.getByRole('complementary', { name: 'Request' }).waitFor({ state: 'detached' })
  await isOn('list')

  await opened.goTo(`/e/${endpoint.id}/actions`)
  const remove = async (name: string) => {
    await page
      .getByRole('button', { name, exact: true })
      .or(page.getByRole('link', { name, exact: true }))
      .click()
    await page.getByRole('button', { name: 'Delete…' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.getByText(name, { exact: true }).waitFor({ state: 'detached' })
  }
  await remove('two')
  await isOn('three')
  await remove('three')
  await isOn('one')
  await remove('one')
  await isOn('Actions')
  expect(faults).toEqual([])
})
