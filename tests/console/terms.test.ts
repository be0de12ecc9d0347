import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { newAuthority } from '../support/certificates.ts'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** The form of an action: how its destination is treated, and the credentials for it. */

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService()
  opened = await openConsole(service.alice)
})

const Actions = z.looseObject({ actions: z.array(z.looseObject({ id: z.string() })) })

async function begun(url: string) {
  const endpoint = await service.alice.endpoint({ name: 'terms' })
  const action = await service.alice.expect(
    service.alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url }),
    z.looseObject({ id: z.string() }),
  )
  const path = `/e/${endpoint.id}/actions/${action.id}`
  const stored = async () =>
    (await service.alice.expect(service.alice.get(endpoint.at('/actions')), Actions)).actions[0]
  return { path, stored }
}

const section = (title: string) => opened.page.locator('summary', { hasText: title })
const save = async () => {
  await opened.page.getByRole('button', { name: 'Save', exact: true }).click()
  await opened.page.getByText('Billing saved').first().waitFor()
}

test('terms are written and shown; what is refused is said at its field', async () => {
  const { path, stored } = await begun('http://127.0.0.1:9/')
  const { page, faults } = opened
  await opened.goTo(path)
  await section('Delivery').click()
  await page.getByLabel('Timeout in seconds').fill('30')
  await page.getByLabel('Concurrent attempts').fill('4')
  await page.getByLabel('Rate: attempts').fill('20')
  await page.getByLabel('Order by').fill('body.customer.id')
  await page.getByText('Hold the key').click()
  await page.getByLabel('Retry after').fill('5s, often')
  await page.getByLabel('Retry on').fill('429, 5xx')
  await page.getByText('End the delivery and pause the action').click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('A delay is a duration over 0').waitFor()
  await page.getByLabel('Retry after').fill('5s, 1m')
  await save()
  expect(await stored()).toMatchObject({
    delivery: {
      timeoutSeconds: 30,
      concurrency: 4,
      rate: { count: 20, perSeconds: 1 },
      order: { by: 'body.customer.id', onDeadLetter: 'hold' },
      retry: { delays: ['5s', '1m'], on: [429, '5xx'] },
      gone: 'pause',
    },
  })
  await opened.goTo(path)
  await section('Delivery').click()
  expect(await page.getByLabel('Retry after').inputValue()).toBe('5s, 1m')
  await page.getByLabel('Order by').fill('')
  await save()
  expect(Object(await stored()).delivery).not.toHaveProperty('order')
  expect(faults).toEqual([])
})

test('credentials are masked once they are set, and stay when other members are saved', async () => {
  const { path, stored } = await begun('https://127.0.0.1:9/')
  const { page, faults } = opened
  const authority = await newAuthority()
  const { certificate, key } = await authority.issue('console', 30)
  await opened.goTo(path)
  await section('Credentials').click()
  await page.getByLabel('Credentials', { exact: true }).selectOption('basic')
  await page.getByLabel('Name', { exact: true }).last().fill('ada')
  await page.getByLabel('Password').fill('correct horse')
  await section('TLS').click()
  await page.getByLabel('Client certificate').fill(certificate)
  await page.getByLabel('Client key').fill(key)
  await save()
  expect(await stored()).toMatchObject({
    auth: { kind: 'basic', username: 'ada', isSet: true },
    tls: { subject: 'CN=console', isSet: true },
  })
  await opened.goTo(path)
  await section('Credentials').click()
  await section('TLS').click()
  expect(await page.getByLabel('Password').inputValue()).toBe('••••••••')
  await page.getByText('CN=console is valid until').waitFor()
  const kept = await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')
  expect(String(kept)).not.toContain('correct horse')
  await page.getByLabel('Name', { exact: true }).last().fill('bob')
  await save()
  expect(await stored()).toMatchObject({ auth: { kind: 'basic', username: 'bob', isSet: true } })
  expect(faults).toEqual([])
})

test('the captured path and query can follow the URL of an action', async () => {
  const { path, stored } = await begun('http://127.0.0.1:9/hooks')
  const { page, faults } = opened
  await opened.goTo(path)
  await page.getByLabel('Captured path').check()
  await save()
  expect(await stored()).toMatchObject({ appendPath: true, appendQuery: false })
  await opened.goTo(path)
  await page.getByLabel('Captured query').check()
  await page.getByLabel('Captured path').uncheck()
  await save()
  expect(await stored()).toMatchObject({ appendPath: false, appendQuery: true })
  expect(faults).toEqual([])
})

test('the list of actions shows how each one fared in the last hour', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint({ name: 'figures', forwardUrl: receiver.url })
  await endpoint.captureMany(3)
  await receiver.take(3)
  await opened.goTo(`/e/${endpoint.id}/actions`)
  await opened.page.getByText('100 % of 3 attempts').waitFor()
  await opened.page.getByText(/^p95 \d/).waitFor()
  expect(opened.faults).toEqual([])
})
