import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** `GET /api/v1/health`: what waits in a workspace, and what is wrong with it. */

let service: TestService

beforeAll(async () => {
  service = await startService({ retryDelaysSeconds: [3600] })
})

const Health = z.looseObject({
  version: z.string(),
  problems: z.array(z.looseObject({ code: z.string(), runbook: z.string().nullable() })),
  queues: z.array(
    z.looseObject({
      queue: z.string(),
      waitingCount: z.int(),
      oldestAt: z.string().nullable(),
      lateSeconds: z.int(),
    }),
  ),
  actions: z.array(z.looseObject({ actionName: z.string(), waitingCount: z.int(), isPaused: z.boolean() })),
  storage: z.object({ bytes: z.int(), bytesMax: z.int() }),
})
const healthOf = (client: Client) => client.expect(client.get('/api/v1/health'), Health)
const codesOf = async (client: Client) => (await healthOf(client)).problems.map(({ code }) => code)

test('counts what waits, says since when and how late, and names each problem with its page', async () => {
  const { alice } = service
  expect(await healthOf(alice)).toMatchObject({
    problems: [],
    queues: ['deliveries', 'alerts', 'events'].map((queue) => ({ queue, waitingCount: 0, lateSeconds: 0 })),
    actions: [],
  })
  await using receiver = await startReceiver({ status: 500 })
  const endpoint = await alice.endpoint({ name: 'waits' })
  const action = { kind: 'forward', name: 'Billing', url: receiver.url }
  const Made = z.looseObject({ id: z.string() })
  const { id } = await alice.expect(alice.post(endpoint.at('/actions'), action), Made)
  await endpoint.captureMany(3)
  await receiver.take(3)
  const waiting = await eventually('three wait', async () => {
    const health = await healthOf(alice)
    return health.queues[0]?.waitingCount === 3 && health.queues[0].lateSeconds === 0 ? health : undefined
  })
  expect(waiting).toMatchObject({
    problems: [],
    queues: [{ oldestAt: expect.stringMatching(/Z$/) }, {}, {}],
    actions: [
      { actionId: id, actionName: 'Billing', endpointName: 'waits', waitingCount: 3, isPaused: false },
    ],
  })
  expect(waiting.storage.bytes).toBeGreaterThan(3 * 1024)

  // As where no process runs jobs.
  await sql`update deliveries set next_attempt_at = ${new Date(service.clock.now().getTime() - 300_000)}
    where endpoint_id = ${endpoint.id}`.execute(service.db)
  const late = await healthOf(alice)
  expect(late.queues[0]?.lateSeconds).toBeGreaterThanOrEqual(300)
  expect(late.problems).toMatchObject([
    { code: 'queue.late', title: 'The deliveries are late', runbook: 'docs/runbook.md#creelqueuelags' },
  ])

  // Deliveries of a paused action are not late.
  await alice.post(endpoint.at(`/actions/${id}/pause`))
  expect(await healthOf(alice)).toMatchObject({
    problems: [
      {
        code: 'action.paused',
        title: 'Action Billing is paused',
        endpointId: endpoint.id,
        actionId: id,
        since: expect.stringMatching(/Z$/),
        runbook: 'docs/runbook.md#creelactionspaused',
      },
    ],
    queues: [{ waitingCount: 3, lateSeconds: 0 }, {}, {}],
    actions: [{ isPaused: true }],
  })
})

test('tells of open incidents and failing channels in the words of their alerts', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint({ name: 'troubled' })
  await using receiver = await startReceiver({ status: 410 })
  await client.post(endpoint.at('/actions'), {
    kind: 'forward',
    name: 'Gone',
    url: receiver.url,
    delivery: { retry: { delays: [] } },
  })
  await endpoint.capture()
  await client.post('/api/v1/alert-channels', {
    kind: 'webhook',
    name: 'pager',
    settings: { url: receiver.url },
    events: [],
  })
  await sql`update alert_channels set health = 'failing', last_error = 'http_410', last_failure_at = now()
    where workspace_id = ${client.workspaceId}`.execute(service.db)
  await eventually('the dead letter', async () => (await codesOf(client)).includes('delivery.parked'))
  const { problems } = await healthOf(client)
  expect(problems).toMatchObject([
    {
      code: 'delivery.parked',
      title: 'Deliveries to Gone are dead letters',
      detail: '1 delivery ended because the receiver answered 410 Gone.',
      endpointId: endpoint.id,
      runbook: 'docs/runbook.md#creeldeadletters',
    },
    { code: 'channel.failing', title: 'Alerts to pager fail', detail: 'http_410', actionId: null },
  ])
})

test('shows a workspace its own numbers only, to keys that are not limited to one endpoint', async () => {
  const quiet = await service.newClient()
  expect(await healthOf(quiet)).toMatchObject({
    problems: [],
    queues: [{ waitingCount: 0 }, { waitingCount: 0 }, { waitingCount: 0 }],
    actions: [],
    storage: { bytes: 0 },
  })
  const endpoint = await quiet.endpoint()
  const statusBy = async (members: object) => {
    const made = quiet.post('/api/v1/keys', members)
    const { key } = await quiet.expect(made, z.looseObject({ key: z.string() }))
    return (await quiet.get('/api/v1/health', { headers: { Authorization: `Bearer ${key}` } })).status
  }
  expect(await statusBy({ name: 'reader', scope: 'read' })).toBe(200)
  expect(await statusBy({ name: 'narrow', scope: 'write', endpointId: endpoint.id })).toBe(403)
})
