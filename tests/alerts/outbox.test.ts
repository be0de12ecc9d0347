import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { closeIncidents, openIncident, raiseSingle } from '@creel/core/alerts'
import { z } from 'zod'
import { AlertReceiver } from '../support/alertReceiver.ts'
import type { Client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { MailReceiver } from '../support/mailReceiver.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = '/api/v1/alert-channels'

const Payload = z.looseObject({
  id: z.string(),
  event_kind: z.string(),
  status: z.string(),
  count: z.int(),
  incident_id: z.string().nullable(),
})
const History = z.looseObject({
  items: z.array(
    z.looseObject({
      at: z.string(),
      eventKind: z.string(),
      outcome: z.string(),
      channelKind: z.string(),
      detail: z.string().nullable(),
      count: z.int(),
      emailFallback: z.boolean(),
    }),
  ),
})
const Made = z.looseObject({ id: z.string() })

/** Interval of polling. Calls of the API count against its budget. */
const API_POLL_MS = 100

let service: TestService
/** Each test has its own workspace. */
let client: Client
let receiver: AlertReceiver
let pagerDuty: AlertReceiver
let mail: MailReceiver

/** Limits of a service with few channels a workspace. */
const NARROW = { plan: 'solo', channels: 2 } as const

beforeAll(async () => {
  mail = await MailReceiver.start()
  pagerDuty = await AlertReceiver.start()
  service = await startService({
    smtpUrl: mail.url,
    alertApiUrls: { pagerduty: pagerDuty.url },
    planLimits: { [NARROW.plan]: { alertChannelsMax: NARROW.channels } },
  })
})
beforeEach(async () => {
  client = await service.newClient()
  receiver = await AlertReceiver.start()
  mail.forget()
})
afterEach(() => receiver.stop())
afterAll(async () => {
  await service.stop()
  await Promise.all([pagerDuty.stop(), mail.stop()])
})

const webhook = async (more: object = {}) =>
  (
    await client.expect(
      client.post(PATH, {
        kind: 'webhook',
        name: 'Hook',
        settings: { url: `${receiver.url}/hook` },
        ...more,
      }),
      Made,
    )
  ).id

const addContact = (email: string) => service.operator.contacts.add({ workspace: client.workspaceId, email })

/** An action for dead letters of a test. For the outbox it need not exist. */
const action = () => ({ id: randomUUID(), name: 'Billing' })

const park = (subject: { id: string; name: string }, count = 1, by = { service, client }) =>
  by.service.db.transaction().execute((trx) =>
    openIncident(by.service.running.services, trx, {
      kind: 'delivery.parked',
      workspaceId: by.client.workspaceId,
      subject,
      endpoint: { id: randomUUID(), name: 'stripe-ci' },
      requestId: 90117,
      reason: 'http_503',
      count,
    }),
  )
const recover = (subject: { id: string }) =>
  service.db
    .transaction()
    .execute((trx) =>
      closeIncidents(service.running.services, trx, { kind: 'delivery.parked', subjectIds: [subject.id] }),
    )

const payloads = async (count: number) =>
  (await receiver.received(count)).map(({ json }) => Payload.parse(json))

/** Waits until the history has `count` rows of these kinds. */
function history(count: number, query = '', of = client) {
  return eventually(
    `${count} rows in the history`,
    async () => {
      const { items } = await of.expect(of.get(`${PATH}/deliveries?pageSize=100${query}`), History)
      return items.length >= count && items
    },
    { every: API_POLL_MS },
  )
}
/** Waits until the only row of the history has this detail. */
async function historySays(detail: string) {
  const says = async () => (await history(1))[0]?.detail === detail
  await eventually(`${detail} in the history`, says, { every: API_POLL_MS })
}
const outcomes = (items: z.output<typeof History>['items']) =>
  items.map(
    ({ eventKind, channelKind, outcome, emailFallback }) =>
      `${eventKind} ${channelKind} ${outcome}${emailFallback ? ' (fallback)' : ''}`,
  )

describe('an incident', () => {
  test('raises one alert however many causes come at once, counts them, and closes with the final count', async () => {
    await webhook()
    const subject = action()
    await Promise.all(Array.from({ length: 40 }, () => park(subject, 25)))
    await payloads(1)
    await recover(subject)
    await recover(subject)

    const [open, closed, ...more] = await payloads(2)
    expect(more).toEqual([])
    expect(open).toMatchObject({ event_kind: 'delivery.parked', status: 'open', subject_id: subject.id })
    expect(closed).toMatchObject({ event_kind: 'delivery.recovered', status: 'closed', count: 1000 })
    expect(closed?.incident_id).toBe(open?.incident_id ?? '')
    const rows = await history(2)
    expect(rows.map(({ eventKind, count }) => `${eventKind} ${count}`)).toEqual([
      'delivery.recovered 1000',
      'delivery.parked 1000',
    ])
  })

  test('opens anew after it was closed', async () => {
    await webhook()
    const subject = action()
    await park(subject)
    await payloads(1)
    await recover(subject)
    await payloads(2)
    await park(subject)
    const [first, , third] = await payloads(3)
    expect(third).toMatchObject({ event_kind: 'delivery.parked', count: 1 })
    expect(third?.incident_id).not.toBe(first?.incident_id ?? '')
  })

  test('its closing event has its severity, so that a threshold never splits the two', async () => {
    const events = ['delivery.parked', 'delivery.recovered'].map((kind) => ({ kind, minSeverity: 'error' }))
    await webhook({ events })
    const subject = action()
    await park(subject)
    await payloads(1)
    await recover(subject)
    expect((await payloads(2)).map(({ severity }) => severity)).toEqual(['error', 'error'])
  })

  test('is resolved in PagerDuty under one key, also when the closing event is not subscribed', async () => {
    pagerDuty.replies = [{ status: 202, body: '{"status":"success"}' }]
    await client.post(PATH, {
      kind: 'pagerduty',
      secret: 'R0UTINGKEY',
      events: [{ kind: 'delivery.parked' }],
    })
    const subject = action()
    await park(subject)
    await pagerDuty.received(1)
    await recover(subject)
    const [trigger, resolve] = (await pagerDuty.received(2)).map(({ target, json }) => ({ target, json }))
    expect(trigger).toMatchObject({ target: '/v2/enqueue', json: { event_action: 'trigger' } })
    expect(resolve).toMatchObject({ target: '/v2/enqueue', json: { event_action: 'resolve' } })
    const key = z.looseObject({ dedup_key: z.string() })
    expect(key.parse(resolve?.json).dedup_key).toBe(key.parse(trigger?.json).dedup_key)
  })

  test('is resolved in PagerDuty after any time, of which nothing else of the opening alert is kept', async () => {
    const seen = pagerDuty.messages.length
    pagerDuty.replies = [{ status: 202, body: '{"status":"success"}' }]
    await client.post(PATH, {
      kind: 'pagerduty',
      secret: 'R0UTINGKEY',
      events: [{ kind: 'delivery.parked' }],
    })
    const subject = action()
    await park(subject)
    await pagerDuty.received(seen + 1)
    await history(1, '&outcome=delivered')
    await service.clock.advance(31 * 86_400_000)
    await service.runJob('alerts.sweep', {})
    expect((await client.get(`${PATH}/deliveries`)).body).toMatchObject({ totalCount: 0 })
    const kept = await service.db
      .selectFrom('alertDeliveries as d')
      .innerJoin('alerts as a', 'a.id', 'd.alertId')
      .where('d.workspaceId', '=', client.workspaceId)
      .select(['d.detail', 'a.reason'])
      .execute()
    expect(kept).toEqual([{ detail: null, reason: null }])
    await recover(subject)
    const [, resolve] = (await pagerDuty.received(seen + 2)).slice(seen)
    expect(resolve?.json).toMatchObject({ event_action: 'resolve' })
  })
})

describe('the closing alert', () => {
  test('comes after the opening one, however close the two are', async () => {
    await webhook()
    for (let round = 0; round < 10; round += 1) {
      const subject = action()
      await park(subject)
      await recover(subject)
    }
    const kinds = new Map<string | null, string[]>()
    for (const { incident_id, event_kind } of await payloads(20)) {
      kinds.set(incident_id, [...(kinds.get(incident_id) ?? []), event_kind])
    }
    expect([...kinds.values()]).toEqual(Array(10).fill(['delivery.parked', 'delivery.recovered']))
  })

  test('waits for the tries of the opening one', async () => {
    await webhook()
    const subject = action()
    receiver.replies = [{ status: 500 }, { status: 200 }]
    await park(subject)
    await historySays('HTTP 500')
    await recover(subject)
    await service.clock.advance(20_000)
    expect(receiver.messages).toHaveLength(1)
    await service.clock.advance(12_000)
    await payloads(2)
    await service.clock.advance(6_000)
    expect((await payloads(3)).map(({ event_kind }) => event_kind)).toEqual([
      'delivery.parked',
      'delivery.parked',
      'delivery.recovered',
    ])
  })
})

describe('a transaction that fails', () => {
  test('raises nothing', async () => {
    await webhook()
    const subject = action()
    const failing = service.db.transaction().execute(async (trx) => {
      await openIncident(service.running.services, trx, {
        kind: 'delivery.parked',
        workspaceId: client.workspaceId,
        subject,
        endpoint: null,
        requestId: null,
        reason: null,
      })
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    const { workspaceId } = client
    const raised = service.db.selectFrom('alerts').where('workspaceId', '=', workspaceId).selectAll()
    expect(await raised.execute()).toEqual([])
    expect(await recover(subject)).toBe(0)
  })
})

describe('sends', () => {
  test('are tried again after 30 s and 5 min, with the same id, in one row of the history', async () => {
    const id = await webhook()
    receiver.replies = [{ status: 500 }, { status: 503 }, { status: 200 }]
    await park(action())
    await historySays('HTTP 500')
    await service.clock.advance(20_000)
    expect(receiver.messages).toHaveLength(1)
    await service.clock.advance(12_000)
    await historySays('HTTP 503')
    await service.clock.advance(272_000)
    const sent = await payloads(3)
    expect(new Set(sent.map((payload) => payload.id)).size).toBe(1)
    const rows = await history(1, '&outcome=delivered')
    expect(rows).toHaveLength(1)
    expect((await client.get(`${PATH}/${id}`)).body).toMatchObject({
      health: 'verified',
      consecutiveFailures: 0,
    })
  })

  test('are given up when no worker survives them, and the alert goes by mail', async () => {
    await addContact('ops@acme.test')
    await webhook()
    receiver.replies = [{ status: 500 }]
    await park(action())
    await historySays('HTTP 500')
    // No key has sealed it, so it cannot be opened, and an attempt fails halfway.
    const channels = service.db.updateTable('alertChannels').where('workspaceId', '=', client.workspaceId)
    await channels.set({ secret: Buffer.alloc(64) }).execute()
    await eventually(
      'the mail that stands in for the channel',
      async () => {
        await service.clock.advance(31_000)
        return mail.mails.length > 0
      },
      { every: API_POLL_MS },
    )
    expect(await history(2)).toMatchObject([
      { outcome: 'delivered', channelKind: 'email', emailFallback: true },
      { outcome: 'failed', detail: 'Given up: no attempt completed.' },
    ])
  })

  test('three failures in a row make the channel failing, and the alert goes by mail', async () => {
    await addContact('ops@acme.test')
    const id = await webhook()
    receiver.replies = [{ status: 500 }, { status: 501 }, { status: 502 }]
    await park(action())
    await historySays('HTTP 500')
    await service.clock.advance(32_000)
    await historySays('HTTP 501')
    await service.clock.advance(272_000)
    await mail.received(1)
    expect((await client.get(`${PATH}/${id}`)).body).toMatchObject({
      health: 'failing',
      consecutiveFailures: 3,
    })
    expect(outcomes(await history(2))).toEqual([
      'delivery.parked email delivered (fallback)',
      'delivery.parked webhook failed',
    ])
  })

  test('a refusal in words that the database cannot store is recorded, and not sent again at once', async () => {
    await webhook()
    receiver.replies = [{ status: 503, body: 'busy\0' }]
    await park(action())
    await historySays('busy\ufffd')
    await service.clock.advance(29_000)
    expect(receiver.messages).toHaveLength(1)
  })

  test('a permanent refusal is not tried again and goes by mail at once', async () => {
    await addContact('ops@acme.test')
    await webhook()
    receiver.replies = [{ status: 410, body: 'gone' }]
    await park(action())
    const [letter] = await mail.received(1)
    expect(letter?.raw).toContain('Hook is failing')
    await service.clock.advance(600_000)
    expect(receiver.messages).toHaveLength(1)
  })

  test('while failing a channel is tried once an alert, which is mailed besides', async () => {
    await addContact('ops@acme.test')
    const id = await webhook()
    receiver.replies = [{ status: 500 }]
    await client.post(`${PATH}/${id}/test`)
    await park(action())
    await mail.received(1)
    await receiver.received(2)
    expect(outcomes(await history(2, '&eventKind=delivery.parked'))).toEqual([
      'delivery.parked email delivered (fallback)',
      'delivery.parked webhook failed',
    ])
    await service.clock.advance(600_000)
    expect(receiver.messages).toHaveLength(2)
    expect(mail.mails).toHaveLength(1)
  })
})

describe('a channel that takes nothing any more when an alert is tried again', () => {
  const soon = () => new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  const mute = (id: string) => client.put(`${PATH}/${id}`, { mutedUntil: soon() })
  const WAYS = {
    'is muted': { shut: mute, outcome: 'muted' },
    'is switched off': {
      shut: (id: string) => client.put(`${PATH}/${id}`, { enabled: false }),
      outcome: 'suppressed',
    },
    'is deleted': { shut: (id: string) => client.delete(`${PATH}/${id}`), outcome: 'failed' },
  }
  const FailedOnes = z.looseObject({ items: z.array(z.looseObject({ channelId: z.string() })) })
  const failedOnes = async (count: number) => {
    await history(count, '&outcome=failed')
    const { items } = await client.expect(client.get(`${PATH}/deliveries?outcome=failed`), FailedOnes)
    return items.map(({ channelId }) => channelId)
  }

  test.each(Object.entries(WAYS))(
    'because it %s is mailed for, and not called failing',
    async (_way, { shut, outcome }) => {
      await addContact('ops@acme.test')
      const id = await webhook()
      receiver.replies = [{ status: 500 }]
      await park(action())
      await historySays('HTTP 500')
      expect((await shut(id)).status).toBeLessThan(300)
      await service.clock.advance(32_000)
      const [letter] = await mail.received(1)
      expect(letter?.raw).not.toContain('is failing')
      expect(outcomes(await history(2))).toEqual([
        'delivery.parked email delivered',
        `delivery.parked webhook ${outcome}`,
      ])
    },
  )

  test.each(Object.entries(WAYS))(
    'because it %s is not mailed for if another channel took the alert',
    async (_way, { shut, outcome }) => {
      await addContact('ops@acme.test')
      await webhook()
      await webhook()
      receiver.replies = [{ status: 500 }, { status: 200 }]
      await park(action())
      const [id = ''] = await failedOnes(1)
      await history(1, '&outcome=delivered')
      await shut(id)
      await service.clock.advance(32_000)
      const { workspaceId } = client
      const sends = service.db.selectFrom('alertDeliveries').where('workspaceId', '=', workspaceId)
      const ended = async () => {
        const rows = await sends.select(['outcome', 'nextAttemptAt', 'recipient']).execute()
        return rows.every(({ nextAttemptAt }) => nextAttemptAt === null) && rows
      }
      const rows = await eventually('the end of every send', ended)
      expect(rows.map((row) => String(row.outcome)).sort()).toEqual(['delivered', outcome].sort())
      expect(mail.mails).toEqual([])
    },
  )

  test('is mailed for once if the others take nothing any more either', async () => {
    await addContact('ops@acme.test')
    for (let count = 0; count < 3; count += 1) await webhook()
    receiver.replies = [{ status: 500 }]
    await park(action())
    const [muted = '', ...deleted] = await failedOnes(3)
    await mute(muted)
    for (const id of deleted) await client.delete(`${PATH}/${id}`)
    await service.clock.advance(32_000)
    await mail.received(1)
    expect(outcomes(await history(4)).sort()).toEqual([
      'delivery.parked email delivered',
      'delivery.parked webhook failed',
      'delivery.parked webhook failed',
      'delivery.parked webhook muted',
    ])
  })
})

describe('contacts', () => {
  test('are mailed what no channel takes, as text and HTML', async () => {
    for (const email of ['ops@acme.test', 'boss@acme.test']) {
      await addContact(email)
    }
    await park(action(), 3)
    const mails = await mail.received(2)
    expect(mails.flatMap(({ to }) => to).sort()).toEqual(['boss@acme.test', 'ops@acme.test'])
    expect(mails[0]?.from).toBe('alerts@creel.example.test')
    expect(mails[0]?.raw).toContain('Subject: [error] Deliveries to Billing are dead letters')
    expect(mails[0]?.raw).toContain('text/plain')
    expect(mails[0]?.raw).toContain('text/html')
    expect(outcomes(await history(2))).toEqual([
      'delivery.parked email delivered',
      'delivery.parked email delivered',
    ])
  })

  test('are spared what a channel took', async () => {
    await addContact('ops@acme.test')
    await webhook()
    await park(action())
    await payloads(1)
    expect(outcomes(await history(1))).toEqual(['delivery.parked webhook delivered'])
    expect(mail.mails).toEqual([])
  })

  test('whom a watchdog names are mailed its alarm and its recovery, besides the channels', async () => {
    const named = await addContact('night@acme.test')
    await addContact('day@acme.test')
    await webhook()
    const subject = { id: randomUUID(), name: 'nightly backup' }
    const alarm = { kind: 'watchdog.alarmed', contactIds: [named.id] } as const
    await service.db.transaction().execute((trx) =>
      openIncident(service.running.services, trx, {
        ...alarm,
        workspaceId: client.workspaceId,
        subject,
        endpoint: null,
        requestId: null,
        reason: 'No matching capture since 03:00.',
      }),
    )
    await mail.received(1)
    await service.db
      .transaction()
      .execute((trx) => closeIncidents(service.running.services, trx, { ...alarm, subjectIds: [subject.id] }))
    const mails = await mail.received(2)
    expect(mails.map(({ to }) => to)).toEqual([['night@acme.test'], ['night@acme.test']])
    expect(mails[0]?.raw).toContain('Subject: [critical] Watchdog nightly backup is alarmed')
    expect(mails[1]?.raw).toContain('Subject: [recovered] Watchdog nightly backup recovered')
    await payloads(2)
    expect(outcomes(await history(4)).sort()).toEqual([
      'watchdog.alarmed email delivered',
      'watchdog.alarmed webhook delivered',
      'watchdog.recovered email delivered',
      'watchdog.recovered webhook delivered',
    ])
  })

  test('without a mail server the history says so plainly', async () => {
    const mute = await startService()
    await mute.operator.contacts.add({ workspace: mute.alice.workspaceId, email: 'ops@acme.test' })
    await park(action(), 1, { service: mute, client: mute.alice })
    const [row] = await history(1, '', mute.alice)
    expect(row).toMatchObject({
      channelKind: 'email',
      outcome: 'failed',
      channelId: null,
      detail: 'Not mailed: no mail server is configured (CREEL_SMTP_URL).',
    })
    await mute.stop()
  })

  test("a refused recipient is final and recorded in the server's words", async () => {
    mail.refusal = { code: 550, words: 'no such user here' }
    await addContact('gone@acme.test')
    await park(action())
    const [row] = await history(1)
    expect(row).toMatchObject({ outcome: 'failed', statusCode: 550 })
    expect(row?.detail).toContain('no such user here')
  })

  test('mail that is refused for now is tried again', async () => {
    mail.refusal = { code: 451, words: 'greylisted' }
    await addContact('ops@acme.test')
    await park(action())
    await history(1)
    mail.refusal = null
    await service.clock.advance(32_000)
    await mail.received(1)
    expect(outcomes(await history(1, '&outcome=delivered'))).toEqual(['delivery.parked email delivered'])
  })
})

describe('a channel that wants an alert and does not get it', () => {
  test('leaves a row: muted, or suppressed over the plan', async () => {
    client = await service.newClient(NARROW.plan)
    const soon = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    await webhook({ mutedUntil: soon })
    await client.post(PATH, { kind: 'slack', name: 'No credential' })
    await park(action())
    expect(outcomes(await history(2)).sort()).toEqual([
      'delivery.parked slack suppressed',
      'delivery.parked webhook muted',
    ])
    expect(receiver.messages).toEqual([])
  })

  test('one that is off or does not subscribe leaves none', async () => {
    await webhook({ enabled: false })
    await webhook({ events: [] })
    const last = await webhook()
    await service.db.transaction().execute((trx) =>
      raiseSingle(service.running.services, trx, {
        kind: 'transformation.disabled',
        workspaceId: client.workspaceId,
        subject: { id: randomUUID(), name: 'Slim' },
        endpoint: null,
        requestId: null,
        reason: 'It faulted on 5 deliveries in a row; it held a redact step, so data now flows without it.',
      }),
    )
    const [message] = await payloads(1)
    expect(message).toMatchObject({
      event_kind: 'transformation.disabled',
      status: 'single',
      incident_id: null,
    })
    expect(await history(1)).toMatchObject([{ channelId: last }])
  })
})

describe('several processes', () => {
  test('send every alert once', async () => {
    const { database, clock, secretKey } = service
    const second = await startService({ database, clock, secretKey, smtpUrl: mail.url, parts: ['jobs'] })
    await webhook()
    await webhook()
    await Promise.all(Array.from({ length: 50 }, () => park(action())))
    await history(100, '&outcome=delivered')
    const ids = (await payloads(100)).map(({ id }) => id)
    expect(ids).toHaveLength(100)
    expect(new Set(ids).size).toBe(50)
    await second.stop()
  })

  test('a job too many sends nothing twice', async () => {
    await webhook()
    await park(action())
    await payloads(1)
    await history(1)
    const { alertId, laneId } = await service.db
      .selectFrom('alertDeliveries')
      .where('workspaceId', '=', client.workspaceId)
      .select(['alertId', 'laneId'])
      .executeTakeFirstOrThrow()
    await service.runJob('alerts.fanOut', { alertId })
    await service.runJob('alerts.lanes', { laneId, workspaceId: client.workspaceId })
    await service.runJob('alerts.sweep', {})
    expect(receiver.messages).toHaveLength(1)
  })
})

describe('the history', () => {
  test('is newest first by its own times, also after the retry of an older send', async () => {
    await webhook()
    receiver.replies = [{ status: 503, body: 'busy' }, { status: 200 }]
    await park(action())
    await historySays('busy')
    await service.clock.advance(5_000)
    await park(action())
    await history(1, '&outcome=delivered')
    await service.clock.advance(30_000)
    const items = await history(2, '&outcome=delivered')
    const times = items.map(({ at }) => at)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(new Set(times).size).toBe(2)
  })

  test('is forgotten after 30 days', async () => {
    const id = await webhook()
    receiver.replies = [{ status: 410, body: 'no order evt_1 here' }]
    await park(action())
    await history(1)
    const channel = async () => (await client.get(`${PATH}/${id}`)).body
    expect(await channel()).toMatchObject({ health: 'failing', lastError: 'no order evt_1 here' })
    await service.clock.advance(31 * 86_400_000)
    await service.runJob('alerts.sweep', {})
    const { body } = await client.get(`${PATH}/deliveries`)
    expect(body).toMatchObject({ totalCount: 0 })
    expect(await channel()).toMatchObject({ health: 'failing', lastError: null })
  })
})
