import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { AlertReceiver } from '../support/alertReceiver.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { MailReceiver } from '../support/mailReceiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { servicePerTest, type TestService } from '../support/service.ts'

const startService = servicePerTest()
const MINUTE_MS = 60_000
/** Retries far away: each request is one attempt. */
const OPTIONS = { retryDelaysSeconds: [86_400] }

const WithId = z.looseObject({ id: z.string() })
const Attempts = z.looseObject({ items: z.array(z.looseObject({ state: z.string() })) })
const Incidents = z.looseObject({
  items: z.array(z.looseObject({ kind: z.string(), state: z.string(), subjectName: z.string() })),
})
const Payload = z.looseObject({
  event_kind: z.string(),
  status: z.string(),
  subject_name: z.string(),
  count: z.int(),
})

async function incidentsOf(client: Client, wanted: string): Promise<readonly string[]> {
  const { items } = await client.expect(client.get('/api/v1/incidents'), Incidents)
  return items.flatMap(({ kind, state, subjectName }) => (kind === wanted ? [`${subjectName} ${state}`] : []))
}

const failing = (client: Client) => incidentsOf(client, 'delivery.failing')

/** An endpoint with one forward action. Its method `send` returns when the attempts of its request are recorded. */
async function forwarding(client: Client, name: string, url: string) {
  const endpoint = await client.endpoint()
  const { id } = await client.expect(
    client.post(endpoint.at('/actions'), { kind: 'forward', name, url }),
    WithId,
  )
  let sent = 0
  return {
    path: endpoint.at(`/actions/${id}`),
    async send(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) await (await endpoint.send()).text()
      sent += count
      await ended(client, endpoint, sent)
    },
  }
}

const ended = (client: Client, endpoint: TestEndpoint, count: number) =>
  eventually(`${count} attempts`, async () => {
    const { items } = await client.expect(client.get(endpoint.at('/deliveries?pageSize=100')), Attempts)
    return items.filter(({ state }) => state !== 'Pending').length >= count
  })

async function afterMinutes(service: TestService, minutes: number): Promise<void> {
  await service.clock.advance(minutes * MINUTE_MS)
  await service.runJob('deliveries.failing', {})
}

describe('a dead destination', () => {
  test('raises an alert by channel and mail within eleven minutes, and another at its end', async () => {
    const mail = await MailReceiver.start()
    const receiver = await AlertReceiver.start()
    await using dead = await startReceiver({ status: 503 })
    await using well = await startReceiver({ status: 200 })
    const service = await startService({ ...OPTIONS, smtpUrl: mail.url })
    const { alice } = service
    const other = await service.newClient()
    await alice.post('/api/v1/alert-channels', {
      kind: 'webhook',
      settings: { url: `${receiver.url}/alerts` },
    })
    await service.operator.contacts.add({ workspace: other.workspaceId, email: 'ops@example.com' })
    const billing = await forwarding(alice, 'Billing', dead.url)
    const bystander = await forwarding(alice, 'Bystander', well.url)
    const ledger = await forwarding(other, 'Ledger', dead.url)

    await Promise.all([billing.send(5), bystander.send(5), ledger.send(5)])
    await afterMinutes(service, 9)
    expect(await failing(alice)).toEqual([])
    await afterMinutes(service, 2)
    await service.runJob('deliveries.failing', {})
    expect(await failing(alice)).toEqual(['Billing open'])
    await mail.received(1)
    expect(mail.mails[0]?.raw).toContain('Deliveries to Ledger fail')

    dead.answer = { status: 200 }
    await Promise.all([billing.send(1), bystander.send(1)])
    expect(await failing(alice)).toEqual(['Billing closed'])
    const [opened, closed, ...more] = (await receiver.received(2)).map(({ json }) => Payload.parse(json))
    expect(more).toEqual([])
    expect(opened).toMatchObject({
      event_kind: 'delivery.failing',
      status: 'open',
      subject_name: 'Billing',
      count: 5,
    })
    expect(closed).toMatchObject({
      event_kind: 'delivery.working',
      status: 'closed',
      subject_name: 'Billing',
    })
    expect(await service.db.selectFrom('failingActions').select('attempts').execute()).toEqual([
      { attempts: 5 },
    ])
    await receiver.stop()
    await mail.stop()
  })

  test('is none because of a rehearsal', async () => {
    await using receiver = await startReceiver({ status: 503 })
    const service = await startService(OPTIONS)
    const { alice } = service
    const endpoint = await alice.endpoint()
    const captured = await endpoint.captureMany(5)
    const action = await alice.expect(
      alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Guest', url: receiver.url }),
      WithId,
    )
    const { replay } = await alice.expect(
      alice.post(endpoint.at('/replays'), {
        to: { actionId: action.id },
        select: { requestIds: captured.map(({ id }) => id) },
        pace: { perSecond: 1000 },
      }),
      z.looseObject({ replay: WithId }),
    )
    await eventually('the end of the rehearsal', async () => {
      const { state } = await alice.expect(
        alice.get(endpoint.at(`/replays/${replay.id}`)),
        z.looseObject({ state: z.string() }),
      )
      return state === 'done'
    })
    expect(receiver.received).toHaveLength(5)
    await afterMinutes(service, 11)
    expect(await failing(alice)).toEqual([])
    expect(await service.db.selectFrom('failingActions').selectAll().execute()).toEqual([])
  })

  test('is none because of attempts that were sent to no receiver: a channel that is off, bodies over the limit', async () => {
    await using well = await startReceiver({ status: 200 })
    const service = await startService({ ...OPTIONS, limits: { payloadBytesMax: 100 } })
    const { alice } = service
    const channel = await alice.expect(
      alice.post('/api/v1/alert-channels', { kind: 'webhook', settings: { url: well.url } }),
      WithId,
    )
    const told = await alice.endpoint()
    await alice.expect(
      alice.post(told.at('/actions'), { kind: 'notify', name: 'Tell', alertChannelId: channel.id }),
      WithId,
    )
    await alice.put(`/api/v1/alert-channels/${channel.id}`, { enabled: false })
    const large = await alice.endpoint({ forwardUrl: well.url })
    await told.captureMany(5)
    await Promise.all([1, 2, 3, 4, 5].map(() => large.send({ body: 'x'.repeat(101) })))
    await Promise.all([ended(alice, told, 5), ended(alice, large, 5)])
    await afterMinutes(service, 11)
    expect(await failing(alice)).toEqual([])
    expect(await service.db.selectFrom('failingActions').selectAll().execute()).toEqual([])
    expect(well.received).toEqual([])
  })

  test('of a notify action, which a former version raised, is closed', async () => {
    const service = await startService()
    const { alice, db } = service
    const channel = await alice.expect(
      alice.post('/api/v1/alert-channels', { kind: 'webhook', settings: { url: 'http://127.0.0.1:9/' } }),
      WithId,
    )
    const endpoint = await alice.endpoint()
    const notify = await alice.expect(
      alice.post(endpoint.at('/actions'), { kind: 'notify', name: 'Tell', alertChannelId: channel.id }),
      WithId,
    )
    const failure = { workspaceId: alice.workspaceId, requestId: 1, error: 'channel_unavailable' }
    await db
      .insertInto('failingActions')
      .values({ ...failure, actionId: notify.id, since: service.clock.now(), attempts: 5 })
      .execute()
    await db
      .insertInto('incidents')
      .values({
        id: crypto.randomUUID(),
        workspaceId: alice.workspaceId,
        kind: 'delivery.failing',
        severity: 'error',
        subjectType: 'action',
        subjectId: notify.id,
        subjectName: 'Tell',
        count: 5,
        openedAt: service.clock.now(),
      })
      .execute()
    await afterMinutes(service, 11)
    expect(await failing(alice)).toEqual(['Tell closed'])
    expect(await db.selectFrom('failingActions').selectAll().execute()).toEqual([])
  })

  test('is forgotten when its action is switched off or deleted', async () => {
    await using dead = await startReceiver({ status: 503 })
    const service = await startService(OPTIONS)
    const { alice } = service
    const off = await forwarding(alice, 'Off', dead.url)
    const gone = await forwarding(alice, 'Gone', dead.url)
    await Promise.all([off.send(5), gone.send(5)])
    await afterMinutes(service, 11)
    expect([...(await failing(alice))].sort()).toEqual(['Gone open', 'Off open'])
    expect((await alice.put(off.path, { isActive: false })).text).toContain('"isActive":false')
    expect((await alice.delete(gone.path)).status).toBe(204)
    await service.runJob('deliveries.failing', {})
    expect([...(await failing(alice))].sort()).toEqual(['Gone closed', 'Off closed'])
    expect(await service.db.selectFrom('failingActions').selectAll().execute()).toEqual([])
  })

  test('and that of its dead letters, which opens again with the next one once it is on', async () => {
    await using dead = await startReceiver({ status: 410 })
    const service = await startService(OPTIONS)
    const { alice } = service
    const off = await forwarding(alice, 'Off', dead.url)
    const on = await forwarding(alice, 'On', dead.url)
    const parked = async () => [...(await incidentsOf(alice, 'delivery.parked'))].sort()
    await Promise.all([off.send(1), on.send(1)])
    await eventually('both incidents', async () => (await parked()).length === 2)
    await alice.put(off.path, { isActive: false })
    await service.runJob('deliveries.failing', {})
    expect(await parked()).toEqual(['Off closed', 'On open'])
    await alice.put(off.path, { isActive: true })
    await off.send(1)
    await service.runJob('deliveries.failing', {})
    await eventually('another incident', async () => (await parked()).length === 3)
    expect(await parked()).toEqual(['Off closed', 'Off open', 'On open'])
  })

  test('is none after four failures, nor with a success among five', async () => {
    await using dead = await startReceiver({ status: 503 })
    await using flaky = await startReceiver({ status: 503 })
    const service = await startService(OPTIONS)
    const { alice } = service
    const four = await forwarding(alice, 'Four', dead.url)
    const mixed = await forwarding(alice, 'Mixed', flaky.url)
    await Promise.all([four.send(4), mixed.send(3)])
    flaky.answer = { status: 200 }
    await mixed.send(1)
    flaky.answer = { status: 503 }
    await mixed.send(3)
    await afterMinutes(service, 11)
    expect(await failing(alice)).toEqual([])
    await four.send(1)
    await service.runJob('deliveries.failing', {})
    expect(await failing(alice)).toEqual(['Four open'])
  })
})
