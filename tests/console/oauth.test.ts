import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Agent, callMcp } from '../oauth/agent.ts'
import { newPage } from '../support/chromium.ts'
import { openConsole, startConsoleService } from '../support/console.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Sign-in of an agent in a real browser: from another site, over the console's sign-in, to the agent's own port. */

let service: TestService
let agent: Agent
let callback: Receiver
let elsewhere: Receiver

beforeAll(async () => {
  service = await startConsoleService({ parts: ['gateway'] })
  agent = await Agent.start(service)
  callback = await startReceiver({
    status: 200,
    headers: { 'Content-Type': 'text/html' },
    body: 'Signed in.',
  })
  elsewhere = await startReceiver()
})

afterAll(async () => {
  for (const each of [agent, callback, elsewhere]) await each[Symbol.asyncDispose]()
  await service.stop()
})

test('an agent is let in by a click, and revoked under Access', async () => {
  const redirect_uri = `http://127.0.0.1:${callback.port}/done`
  const body = `<a href="${service.baseUrl}${agent.request({ redirect_uri }).replaceAll('&', '&amp;')}">Connect</a>`
  elsewhere.answer = { status: 200, headers: { 'Content-Type': 'text/html' }, body }
  const page = await newPage({ width: 900, height: 800 })
  const faults: string[] = []
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text())
  })

  await page.goto(`http://localhost:${elsewhere.port}/`)
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('API key').fill(service.alice.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: /^Let 127\.0\.0\.1:\d+ use Creel\?$/ }).waitFor()

  // Nothing is chosen, so one click gives nothing.
  await page.getByRole('button', { name: 'Allow' }).click()
  expect(new URL(page.url()).pathname).toBe('/oauth/authorize')
  await page.getByLabel('Read and change').check()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Signed in.').waitFor()
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('state')).toBe('the state')
  const { body: tokens } = await agent.exchange(searchParams.get('code') ?? '', { redirect_uri })
  expect((await callMcp(service, tokens.access_token)).status).toBe(200)

  // The session is there now, and its cookie counts although the link is on another site.
  await page.goto(`http://localhost:${elsewhere.port}/`)
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByText('Signed in.').waitFor()
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  expect(faults).toEqual([])

  const opened = await openConsole(service.alice)
  await opened.goTo('/access')
  const row = opened.page.getByRole('row').filter({ hasText: `Agent, ${agent.clientId}` })
  await row.waitFor()
  expect(await row.getByRole('button', { name: 'Rotate…' }).count()).toBe(0)
  await row.getByRole('button', { name: 'Revoke…' }).click()
  await row.getByRole('button', { name: 'Confirm' }).click()
  await row.getByText('revoked').waitFor()
  expect((await callMcp(service, tokens.access_token)).status).toBe(401)
  expect(opened.faults).toEqual([])
})
