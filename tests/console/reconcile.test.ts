import { beforeAll, expect, test } from 'bun:test'
import { capturesOf, hoursAgo, type Senders, startSenders } from '../api/reconcile/support.ts'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { stripeEvent } from '../support/stripeApi.ts'

/** Events that never came, on the page. */

let senders: Senders
let opened: ConsolePage

beforeAll(async () => {
  senders = await startSenders(startConsoleService)
  opened = await openConsole(senders.service.alice)
})

test('what is missing is counted, then brought, with a key that the page forgets', async () => {
  const { service, stripe } = senders
  stripe.events.push(...[1, 2, 3].map((number) => stripeEvent(number, hoursAgo(2))))
  const endpoint = await service.alice.endpoint({ name: 'payments', provider: 'stripe' })
  await endpoint.capture({ body: JSON.stringify(stripe.events[0]) })
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}/settings`)
  const card = page.getByRole('region', { name: 'Missing events' })
  const key = card.getByLabel('API key with read access to events')
  expect(await key.getAttribute('type')).toBe('password')
  await key.fill(stripe.apiKey)
  await card.getByRole('button', { name: 'Count missing' }).click()
  await card.getByText('3 listed, 2 missing', { exact: true }).waitFor()
  expect((await capturesOf(service, endpoint)).size).toBe(1)
  await card.getByRole('button', { name: 'Fetch missing' }).click()
  await card.getByText('3 listed, 2 missing: 2 captured, 0 still missing').waitFor()
  expect((await capturesOf(service, endpoint)).size).toBe(3)
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  expect(kept).not.toContain(stripe.apiKey)
  await key.fill('rk_wrong')
  await card.getByRole('button', { name: 'Count missing' }).click()
  await card.getByText('The sender refused the credentials.').waitFor()
  expect(faults).toEqual([])
})

test('gaps stand in the head of the endpoint, and lead to the captures beside them', async () => {
  const { service } = senders
  const endpoint = await service.alice.endpoint({ name: 'bot', provider: 'telegram' })
  const ids: number[] = []
  for (const number of [7, 10])
    ids.push((await endpoint.capture({ body: `{"update_id":${number},"message":{}}` })).id)
  const { page, faults } = opened
  await opened.goTo(`/e/${endpoint.id}`)
  await page.getByRole('link', { name: '2 events missing' }).click()
  const gaps = page.getByRole('list', { name: 'Gaps' })
  await gaps.getByText('8 – 9').waitFor()
  await gaps.getByRole('link', { name: 'After' }).click()
  await page.waitForURL(`**/e/${endpoint.id}?r=${ids[1]}`)
  expect(faults).toEqual([])
})
