/**
 * `bun run bench:transform [seconds]`: the cost of transformation rules: the engine alone, on bodies of 2 KB to 1 MB,
 * and a set of ten rules in a delivery, by inline replays through a running service to our own receiver.
 *
 * The engine's figures are processor time, which is valid on a busy machine, too; those of replays are wall time.
 */

import { createServer } from 'node:http'
import { applyRules, type RuleSet } from '@creel/core/transformations'
import { z } from 'zod'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const seconds = Number(process.argv[2] ?? 2)

/** Like docs/rules-examples.md: reduce a payment, redact it, compute values and fill a template. */
const TYPICAL = document('typical', [
  { op: 'keep', paths: ['body.id', 'body.type', 'body.data', 'body.items[*].sku', 'body.items[*].quantity'] },
  { op: 'redact', paths: ['body.data.customer.email'] },
  {
    op: 'compute',
    path: 'body.cents',
    fn: 'round',
    args: [{ fn: 'multiply', args: ['body.data.amount', 100] }],
  },
  {
    op: 'template',
    path: 'body.text',
    template: '{{body.data.customer.name}} paid {{body.data.currency}} {{body.data.amount}}',
  },
  { op: 'rename', from: 'body.data.currency', to: 'body.currency' },
])

/** Ten rules that each do a little, as in real sets. */
const TEN = Array.from({ length: 10 }, (_, index) =>
  document(`rule ${index}`, [
    { op: 'redact', paths: ['body.data.customer.email'] },
    {
      op: 'template',
      path: `body.text${index}`,
      template: '{{body.data.customer.name}}: {{body.data.amount}}',
    },
  ]),
)

/** Fifty steps of the most expensive kinds within 32 KB. */
const WORST = {
  'worst: keep 50 × 13 paths': document(
    'keep',
    Array.from({ length: 50 }, () => ({
      op: 'keep',
      paths: ['sku', 'quantity', 'price', 'title', 'tags', 'tags[*]', 'a', 'b', 'c', 'd', 'e', 'f', 'g'].map(
        (name) => `body.items[*].${name}`,
      ),
    })),
  ),
  'worst: 50 × 8 digests of the body': document(
    'digests',
    steps((index) => ({
      path: `headers.X-${index}`,
      fn: 'concat',
      args: Array(8).fill({ fn: 'sha512', args: [{ raw: 'body' }] }),
    })),
  ),
  'worst: 50 × parse and print the body': document(
    'parse',
    steps(() => ({
      path: 'body.x',
      fn: 'length',
      args: [{ fn: 'toJson', args: [{ fn: 'parseJson', args: ['body'] }] }],
    })),
  ),
  'worst: 50 × replace in the body': document(
    'replace',
    steps(() => ({
      path: 'body.x',
      fn: 'length',
      args: [{ fn: 'replace', args: ['body', { literal: 'e' }, { literal: 'ee' }] }],
    })),
  ),
} as const

function document(name: string, steps: readonly unknown[]): string {
  return JSON.stringify({
    version: 1,
    name,
    when: { path: 'body.type', op: 'startsWith', value: 'invoice.' },
    steps,
  })
}

function steps(step: (index: number) => object): object[] {
  return Array.from({ length: 50 }, (_, index) => ({ op: 'compute', ...step(index) }))
}

function bodyOf(bytes: number): string {
  const items: object[] = []
  const whole = () =>
    JSON.stringify({
      id: 'evt_1PgafmB7WZ01zgkW6dKueIc5',
      type: 'invoice.paid',
      data: { amount: 12.5, currency: 'chf', customer: { name: 'Ada Lovelace', email: 'ada@example.com' } },
      items,
    })
  const itemBytes = 90
  while (whole().length < bytes) {
    const missing = Math.max(1, Math.floor((bytes - whole().length) / itemBytes))
    for (let added = 0; added < missing; added += 1) {
      const number = items.length
      items.push({
        sku: `SKU-${number}`,
        quantity: number % 7,
        price: '19.90',
        title: `Thing ${number}`,
        tags: ['a', 'b'],
      })
    }
  }
  return whole()
}

function ruleSet(texts: readonly string[]): RuleSet {
  return texts.map((text, index) => ({
    id: `rule-${index}`,
    name: `rule ${index}`,
    version: 1,
    enabled: true,
    disabledReason: null,
    holdsDeliveries: false,
    text,
  }))
}

/** Warms up, then measures: microseconds of processor time a run, and the end of the last one. */
function measure(run: () => string, forSeconds: number): { microseconds: number; end: string } {
  const warmUntil = performance.now() + forSeconds * 1500
  while (performance.now() < warmUntil) run()
  let runs = 0
  let end = ''
  const before = process.cpuUsage()
  const until = performance.now() + forSeconds * 1000
  do {
    end = run()
    runs += 1
  } while (performance.now() < until)
  const { user, system } = process.cpuUsage(before)
  return { microseconds: (user + system) / runs, end }
}

/** Runs the rules of one delivery; returns how they ended. */
function delivery(set: RuleSet, body: Buffer): () => string {
  return () => {
    const result = applyRules(set, {
      request: {
        endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
        receivedAt: new Date(0),
        method: 'POST',
        path: '',
        queryString: null,
        headers: [['Content-Type', 'application/json']],
        contentType: 'application/json',
        // New bytes, as in every delivery, so that nothing parsed before is reused.
        body: Buffer.from(body),
        sizeBytes: body.length,
        bodyTruncated: false,
        ip: null,
        label: null,
        eventId: null,
        verification: null,
      },
      facts: {
        'request.id': 1,
        'request.url': '',
        'request.receivedAt': '',
        'endpoint.id': '',
        'endpoint.name': '',
        'action.id': '',
        'action.name': '',
      },
      now: new Date(0),
      secret: () => null,
    })
    return result.error ?? `${result.output?.body.length} bytes`
  }
}

/** Goals for the cost of rules: 50 µs for a typical one on 2 KB, 100 ms for the worst permitted document. */
const TYPICAL_MICROSECONDS = 50
const WORST_MICROSECONDS = 100_000

function reportEngine(
  name: string,
  { microseconds, end }: ReturnType<typeof measure>,
  atMost?: number,
): void {
  const goal = atMost === undefined ? {} : { goal: { atMost } }
  report({ group: 'transform', name: `${name} (${end})`, value: microseconds, unit: 'µs', ...goal })
}

const small = Buffer.from(bodyOf(2048))
reportEngine(
  'JSON.parse and JSON.stringify alone, 2 KB',
  measure(() => `${JSON.stringify(JSON.parse(small.toString())).length} bytes`, seconds),
)
reportEngine(
  'typical rule, 2 KB',
  measure(delivery(ruleSet([TYPICAL]), small), seconds),
  TYPICAL_MICROSECONDS,
)
reportEngine('ten rules, 2 KB', measure(delivery(ruleSet(TEN), small), seconds))
for (const [size, words] of [
  [2048, '2 KB'],
  [262_144, '256 KB'],
  [1_048_576, '1 MB'],
] as const) {
  for (const [name, text] of Object.entries(WORST)) {
    const taken = measure(delivery(ruleSet([text]), Buffer.from(bodyOf(size))), seconds / 4)
    reportEngine(`${name}, ${words}`, taken, WORST_MICROSECONDS)
  }
}

await deliveries()

/** Inline replays, one after the other: without rules, with one, with ten. */
async function deliveries(): Promise<void> {
  const receiver = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('ok'))
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await using service = await startBenchService()
  const Requests = z.looseObject({ items: z.tuple([z.looseObject({ id: z.int() })]) })
  const Replayed = z.looseObject({ state: z.literal('Succeeded') })
  for (const [name, rules] of [
    ['no rules', []],
    ['one rule', [TYPICAL]],
    ['ten rules', TEN],
  ] as const) {
    const endpoint = await service.endpoint()
    await fetch(endpoint.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: small,
    })
    const path = `/api/v1/endpoints/${endpoint.id}`
    const { items } = Requests.parse(await service.call('GET', `${path}/requests`))
    await service.call('POST', `${path}/actions`, { kind: 'forward', url: `http://127.0.0.1:${port}/` })
    for (const rule of rules) await service.call('POST', `${path}/transformations`, JSON.parse(rule))
    const replay = async () =>
      Replayed.parse(await service.call('POST', `${path}/requests/${items[0].id}/replay`))
    for (let warm = 0; warm < 30; warm += 1) await replay()
    const took: number[] = []
    const until = performance.now() + seconds * 1000
    while (performance.now() < until) {
      const start = performance.now()
      await replay()
      took.push(performance.now() - start)
    }
    for (const [percent, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      report({
        group: 'transform',
        name: `inline replay of 2 KB, ${name}, ${percent}`,
        value: percentile(took, share),
        unit: 'ms',
      })
    }
  }
  receiver.closeAllConnections()
  receiver.close()
}
