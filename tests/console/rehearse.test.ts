import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { Client } from '../support/client.ts'
import { anHourAgo } from '../support/clock.ts'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { neverAnswers } from '../support/hangingReceivers.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** A rehearsal on the page: a dry run, the run, its differences, and one of them again. */

let service: TestService
let opened: ConsolePage
let receiver: Receiver

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
  receiver = await startReceiver()
})

afterAll(() => receiver[Symbol.asyncDispose]())

test('selected captures are rehearsed, and what differs is shown and sent again', async () => {
  const endpoint = await service.alice.endpoint({ name: 'rehearsed' })
  for (let id = 1; id <= 4; id += 1) await endpoint.capture({ body: JSON.stringify({ id }) })
  const seen = new Set<string>()
  receiver.answer = (request, response) => {
    const body = request.body.toString()
    response.writeHead(seen.has(body) && body.includes('"id":2') ? 409 : 200)
    seen.add(body)
    response.end()
  }
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/rehearse`)
  const card = page.getByRole('region', { name: 'Rehearse' })
  await card.getByLabel('URL').fill(receiver.url)
  await card.getByLabel('Requests a second').fill('1000')
  // A word that is not understood must not widen what is sent.
  await card.getByLabel('Captures').fill('state:faild method:POST')
  await card.getByText('state:faild: state must be one of').waitFor()
  expect(await card.getByRole('button', { name: 'Dry run' }).isDisabled()).toBe(true)
  await card.getByLabel('Captures').fill('method:POST')
  await card.getByLabel('Compare with').selectOption('first')
  await card.getByRole('button', { name: 'Dry run' }).click()
  await card.getByText('faults.duplicate must be over 0', { exact: false }).waitFor()
  await card.getByLabel('Compare with').selectOption('')
  await card.getByRole('button', { name: 'Dry run' }).click()
  await card.getByText(': 4 captures of 4 that match', { exact: false }).waitFor()
  expect(receiver.received).toHaveLength(0)
  const plan = (await card.getByText('Would send', { exact: false }).textContent()) ?? ''
  expect(plan).toContain(receiver.url)

  // A plan is sent only as it was shown: on other terms there is no button, and the seed stays.
  const send = card.getByRole('button', { name: 'Rehearse: send 4 requests' })
  await card.getByLabel('Duplicates').check()
  expect(await send.count()).toBe(0)
  await card.getByLabel('Duplicates').uncheck()
  await send.click()
  const replays = page.getByRole('list', { name: 'Replays' })
  await replays.getByText('4 of 4 sent', { exact: false }).waitFor()

  const baseline = await service.alice.get(endpoint.at('/replays'))
  const [first] = Object(baseline.body).items
  expect(plan).toContain(`with the seed ${first.seed}.`)
  await service.alice.post(endpoint.at('/replays'), {
    select: { filter: {} },
    to: { url: receiver.url },
    pace: { perSecond: 1000 },
    compare: { with: first.id },
  })
  await opened.goTo(`/e/${endpoint.id}/rehearse`)
  await replays.getByRole('button', { name: 'Show 1 difference' }).click()
  const changed = replays.getByRole('region', { name: 'Changed' })
  await changed.getByRole('heading', { name: 'status · 1 request' }).waitFor()
  await changed.getByRole('cell', { name: 'status' }).waitFor()
  await changed.getByRole('cell', { name: '409' }).waitFor()
  const before = receiver.received.length
  await changed.getByRole('button', { name: 'Send this one again' }).click()
  await replays.getByText('1 of 1 sent', { exact: false }).waitFor()
  expect(receiver.received).toHaveLength(before + 1)
  expect(faults).toEqual([])

  const { key } = await service.alice.expect(
    service.alice.post('/api/v1/keys', { name: 'reader', scope: 'read' }),
    z.looseObject({ key: z.string() }),
  )
  const { baseUrl, captureUrl, workspaceId } = service.alice
  const reader = await openConsole(new Client(baseUrl, captureUrl, key, workspaceId))
  await reader.goTo(`/e/${endpoint.id}/rehearse`)
  await reader.page.getByRole('button', { name: 'Show 1 difference' }).last().click()
  const again = reader.page.getByRole('button', { name: 'Send this one again' })
  await again.waitFor()
  await reader.page.locator('fieldset.writes:disabled').first().waitFor()
  expect(await again.isDisabled()).toBe(true)
})

test('a rehearsal sends what its dry run has shown, without what has arrived since', async () => {
  const endpoint = await service.alice.endpoint({ name: 'planned' })
  await endpoint.captureMany(2)
  // The newest id, and older than the others.
  const line = { method: 'POST', receivedAt: anHourAgo(), rawHeaders: [], body: '{}' }
  expect((await endpoint.importLines(`${JSON.stringify(line)}\n`)).status).toBe(200)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/rehearse`)
  const card = page.getByRole('region', { name: 'Rehearse' })
  await card.getByLabel('URL').fill(receiver.url)
  await card.getByLabel('Compare with').selectOption('')
  await card.getByRole('button', { name: 'Dry run' }).click()
  await card.getByText(': 3 captures of 3 that match', { exact: false }).waitFor()
  await endpoint.capture()
  await card.getByRole('button', { name: 'Rehearse: send 3 requests' }).click()
  const replays = page.getByRole('list', { name: 'Replays' })
  await replays.getByText('3 of 3 sent', { exact: false }).waitFor()
  expect(faults).toEqual([])
})

test('the selection of the list leads there', async () => {
  const endpoint = await service.alice.endpoint({ name: 'chosen' })
  const { id } = await endpoint.capture()
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/rehearse?requests=${id}`)
  await page.getByText('1 selected capture', { exact: true }).waitFor()
  expect(faults).toEqual([])
})

test('one capture is replayed to a URL without an action, and the answer is shown', async () => {
  const endpoint = await service.alice.endpoint({ name: 'to a url' })
  const { id } = await endpoint.capture({ body: '{"n":1}', suffix: '/orders?a=1' })
  receiver.answer = (_request, response) => response.writeHead(201).end('{"taken":true}')
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Replay through' }).click()
  await page.getByRole('menuitem', { name: 'To a URL…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL', { exact: true }).fill('ftp://nowhere')
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.locator('.field-problem:visible').waitFor()
  await dialog.getByLabel('URL', { exact: true }).fill(receiver.url)
  await dialog.getByLabel('Append the captured path').check()
  const before = receiver.received.length
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.getByText('{"taken":true}').waitFor()
  await dialog.getByText('201').waitFor()
  expect(receiver.received.slice(before).map(({ url, body }) => [url, String(body)])).toEqual([
    [`${new URL(receiver.url).pathname}/orders?a=1`, '{"n":1}'],
  ])
  expect(faults).toEqual([])
})

test('a replay to a URL that is cancelled is waited for no longer', async () => {
  const endpoint = await service.alice.endpoint({ name: 'cancelled' })
  const { id } = await endpoint.capture()
  await using hanging = await startReceiver(neverAnswers)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Replay through' }).click()
  await page.getByRole('menuitem', { name: 'To a URL…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL', { exact: true }).fill(hanging.url)
  await dialog.getByRole('button', { name: 'Send' }).click()
  await hanging.take(1)
  const { body } = await service.alice.get(endpoint.at('/replays'))
  const [{ id: replayId }] = Object(body).items
  await service.alice.post(endpoint.at(`/replays/${replayId}/cancel`))
  await dialog.getByText('The replay has ended: cancelled').waitFor()
  expect(await dialog.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true)
  expect(faults).toEqual([])
})

test('a replay to a URL that can be read no more is asked for no longer', async () => {
  const endpoint = await service.alice.endpoint({ name: 'unreadable' })
  const { id } = await endpoint.capture()
  await using hanging = await startReceiver(neverAnswers)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}?r=${id}`)
  let asked = 0
  const isRead = ({ pathname }: URL) => pathname.includes('replays.get')
  // As for a replay that is gone.
  await page.route(isRead, async (route) => {
    asked += 1
    const gone = crypto.randomUUID()
    await route.continue({
      url: route
        .request()
        .url()
        .replace(/(replayId%22%3A%22)[0-9a-f-]+/, `$1${gone}`),
    })
  })
  await page.getByRole('button', { name: 'Replay through' }).click()
  await page.getByRole('menuitem', { name: 'To a URL…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL', { exact: true }).fill(hanging.url)
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.locator('.problem').waitFor()
  const before = asked
  // Long enough for several more looks.
  await Bun.sleep(1500)
  expect(asked).toBe(before)
  await page.unroute(isRead)
  expect(faults).toEqual([])
})
