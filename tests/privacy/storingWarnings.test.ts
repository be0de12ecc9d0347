import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { runCreel } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'
import { emptyHome, environmentOf } from '../terminal/support.ts'

/** Warnings of rules for storing: whatever reads a value that they take out is named, wherever rules or readers change. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000 } })
  alice = service.alice
})

const Answer = z.looseObject({ id: z.string(), warnings: z.array(z.string()).optional() })

/** An endpoint whose readers read each `body.<name>`, `headers.x-team` or the label. */
async function readBy(settings: object = {}) {
  const endpoint = await alice.endpoint({
    name: `Read ${crypto.randomUUID()}`,
    eventIdPath: 'body.id',
    columns: ['body.amount'],
    dedupe: { by: 'headers.X-Team', windowSeconds: 60, then: 'mark' },
    ...settings,
  })
  const condition = {
    any: [
      { path: 'body.card', op: 'exists', value: false },
      { path: 'label', op: 'eq', value: 'order.paid' },
    ],
  }
  const made = await alice.expect(
    alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Billing',
      url: 'http://127.0.0.1:9/',
      condition,
      delivery: { order: { by: 'body.customer' } },
    }),
    Answer,
  )
  const watchdog = await alice.post('/api/v1/watchdogs', {
    endpointId: endpoint.id,
    name: 'Heartbeat',
    expectedIntervalSeconds: 3600,
    match: { path: 'body.kind', op: 'eq', value: 'beat' },
  })
  expect(watchdog.status).toBe(201)
  return { endpoint, made }
}

const ALL = {
  storeRules: [
    {
      op: 'remove',
      paths: ['body.id', 'body.card', 'body.type', 'body.customer', 'body.kind', 'body.amount'],
    },
  ],
  dropHeaders: ['x-team'],
}
const OF_ACTION = [
  "The condition of the action 'Billing' reads body.card,",
  "The condition of the action 'Billing' reads label,",
  "The action 'Billing' orders by body.customer,",
]
const OF_ALL = [
  'The event id is read from body.id,',
  '`dedupe` compares headers.X-Team,',
  ...OF_ACTION,
  "The condition of the watchdog 'Heartbeat' reads body.kind,",
  'The column body.amount shows what is stored',
]
const beginning = (texts: readonly string[]) => texts.map((text) => expect.stringContaining(text))

async function previewed(endpoint: TestEndpoint, settings: object) {
  const tried = await alice.post(endpoint.at('/store-rules/preview'), { ...settings, sample: { body: '' } })
  return z.object({ warnings: z.array(z.string()) }).parse(tried.body).warnings
}

test('a preview and a change of rules name each reader', async () => {
  const { endpoint, made } = await readBy()
  expect(made.warnings).toBeUndefined()
  expect(await previewed(endpoint, ALL)).toEqual(beginning(OF_ALL))
  const saved = await alice.expect(alice.patch(endpoint.at(''), ALL), Answer)
  expect(saved.warnings).toEqual(beginning(OF_ALL))
  const renamed = await alice.expect(alice.patch(endpoint.at(''), { name: 'Other' }), Answer)
  expect(renamed.warnings).toBeUndefined()
})

test('rules that take out what is read by none warn of nothing', async () => {
  const { endpoint } = await readBy()
  const harmless = { storeRules: [{ op: 'remove', paths: ['body.other'] }], dropHeaders: ['Cookie'] }
  expect(await previewed(endpoint, harmless)).toEqual([])
  expect((await alice.patch(endpoint.at(''), harmless)).body).toMatchObject({ warnings: [] })
})

test('a reader that is made or changed under rules is named, too', async () => {
  const { endpoint, made } = await readBy(ALL)
  expect(made.warnings).toEqual(beginning(OF_ACTION))
  const action = endpoint.at(`/actions/${made.id}`)
  const changed = await alice.expect(
    alice.put(action, { condition: { path: 'body.kind', op: 'exists' } }),
    Answer,
  )
  expect(changed.warnings).toEqual(
    beginning(["The condition of the action 'Billing' reads body.kind,", OF_ACTION[2] ?? '']),
  )
  const freed = await alice.expect(alice.put(action, { condition: {}, delivery: null }), Answer)
  expect(freed.warnings).toBeUndefined()
  const settings = await alice.expect(alice.patch(endpoint.at(''), { eventIdPath: 'body.other' }), Answer)
  expect(settings.warnings).not.toContainEqual(expect.stringContaining('The event id'))
  expect(settings.warnings).toContainEqual(expect.stringContaining('The column body.amount'))
})

test('the terminal prints them as hints, and beside JSON nothing else', async () => {
  const { endpoint, made } = await readBy()
  const env = environmentOf(alice, await emptyHome())
  const rules = `storeRules=${JSON.stringify(ALL.storeRules)}`
  const plain = await runCreel(['endpoints', 'update', endpoint.id, '--set', rules], { env })
  expect(plain).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Changed the endpoint') })
  expect(plain.stderr).toContain("Warning: The condition of the action 'Billing' reads body.card,")
  const json = await runCreel(['endpoints', 'update', endpoint.id, '--set', rules, '--json'], { env })
  expect(json.stderr).toBe('')
  expect(Answer.parse(JSON.parse(json.stdout)).warnings).not.toEqual([])
  const action = ['actions', 'update', made.id, '-e', endpoint.id, '--set', 'name=Billing']
  expect((await runCreel(action, { env })).stderr).toContain("Warning: The action 'Billing' orders by")
})

test('the terminal says that encrypted text is not searched, and until when an original is kept', async () => {
  const endpoint = await alice.endpoint({
    name: 'Sealed',
    encryptBodies: true,
    dropHeaders: ['X-Secret'],
    forwardOriginal: true,
  })
  await alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'App', url: 'http://127.0.0.1:9/' })
  const { id } = await endpoint.capture({ body: 'needle', headers: { 'X-Secret': 's' } })
  const env = environmentOf(alice, await emptyHome())
  const found = await runCreel(['requests', 'list', '-e', endpoint.id, '--q', 'needle'], { env })
  expect(found.stderr).toContain('The text of encrypted requests of "Sealed" is not searched.')
  const listed = await runCreel(['requests', 'list', '-e', endpoint.id], { env })
  expect(listed.stderr).toBe('')
  const shown = await runCreel(['requests', 'get', String(id)], { env })
  expect(shown.stdout).toContain('taken out before storing: headers.x-secret')
  expect(shown.stdout).toMatch(/replays send the original until \d{4}-/)
})
