import { beforeAll, expect, test } from 'bun:test'
import { hoursAgo, type Senders, startSenders } from '../api/reconcile/support.ts'
import { githubBody, githubDelivery, githubHeaders } from '../support/githubApi.ts'
import { PROGRAM } from '../support/process.ts'
import { stripeEvent } from '../support/stripeApi.ts'
import { emptyHome, environmentOf, fails, succeeds } from './support.ts'

/** `creel reconcile`: from the credential to the exit code. */

let senders: Senders
let env: Record<string, string>

beforeAll(async () => {
  senders = await startSenders()
  env = environmentOf(senders.service.alice, await emptyHome())
  senders.stripe.events.push(...[1, 2, 3].map((number) => stripeEvent(number, hoursAgo(2))))
})

test('counts, then brings what is missing; the exit code says whether something still is', async () => {
  const { service, stripe } = senders
  const orders = await service.alice.endpoint({ name: 'orders', provider: 'stripe' })
  await orders.capture({ body: JSON.stringify(stripe.events[0]) })
  const withKey = { ...env, CREEL_RECONCILE_KEY: stripe.apiKey }
  const dry = await fails(['reconcile', 'orders', '--since', '3d', '--dry-run'], withKey)
  expect(dry.exitCode).toBe(1)
  const text = await succeeds(['reconcile', 'orders', '--since', '3d'], withKey)
  expect(text).toContain('The sender lists 3 events for "orders": 1 were captured, 2 are missing.')
  expect(text).toContain('2 captured, 0 still missing.')
  const json = await succeeds(
    ['reconcile', orders.url, '--since', '3d', '--types', 'a.b, invoice.paid', '--json'],
    withKey,
  )
  expect(JSON.parse(json)).toMatchObject({
    types: ['a.b', 'invoice.paid'],
    counts: { listed: 3, missing: 0 },
  })
})

test('a credential can be piped, and is no argument', async () => {
  const { service, github } = senders
  const builds = await service.alice.endpoint({ name: 'builds', provider: 'github' })
  const delivery = githubDelivery(1, hoursAgo(1))
  github.deliveries.push(delivery)
  github.target = builds.url
  const child = Bun.spawn([...PROGRAM, 'reconcile', 'builds', '--since', '1d', '--hook', github.hookUrl], {
    env,
    stdin: new Blob([`${github.token}\n`]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.exited).toBe(0)
  expect(await new Response(child.stdout).text()).toContain('1 sent again, 0 still missing.')
  const help = await succeeds(['help', 'reconcile'], env)
  expect(help).not.toMatch(/--(api-key|token)/)
  // The redelivered request is as GitHub sends it.
  const { guid } = delivery
  const { id } = await builds.capture({ headers: githubHeaders('other'), body: githubBody('other') })
  const rows = await builds.requests()
  expect(rows.map((row) => [row.id === id, row.eventId, row.reconciled])).toEqual([
    [true, 'other', false],
    [false, guid, false],
  ])
})

test('a mistake says what would be right', async () => {
  const { service, stripe } = senders
  await service.alice.endpoint({ name: 'plain' })
  await service.alice.endpoint({ name: 'hooks', provider: 'github' })
  await service.alice.endpoint({ name: 'paid', provider: 'stripe' })
  const withKey = { ...env, CREEL_RECONCILE_KEY: 'rk_wrong' }
  expect((await fails(['reconcile', 'plain', '--since', '3d'], withKey)).stderr).toContain(
    '--provider stripe',
  )
  expect((await fails(['reconcile', 'hooks', '--since', '3d'], withKey)).stderr).toContain('--hook')
  expect(await fails(['reconcile', 'paid', '--since', 'soon'], withKey)).toMatchObject({ exitCode: 2 })
  expect(await fails(['reconcile', 'paid'], withKey)).toMatchObject({ exitCode: 2 })
  expect(await fails(['reconcile', 'paid', '--since', '3d'], env)).toMatchObject({ exitCode: 2 })
  const wrong = await fails(['reconcile', 'paid', '--since', '3d'], withKey)
  expect(wrong.exitCode).toBe(1)
  expect(wrong.stdout).toBe('The run failed: The sender refused the credentials. The sender answered 401.\n')
  expect(stripe.apiKey).not.toBe('rk_wrong')
})
