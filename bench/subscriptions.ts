/**
 * `bun bench/subscriptions.ts [--rounds 5] [--seconds 2]`: captures on an endpoint with 500 event subscriptions, against
 * the same without, in bursts that take turns. Ten subscriptions want every capture, as many as the plan lets them have;
 * the others wait for labels of their own.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { BODY, HEADERS } from './support/captureVariants.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
})
const SUBSCRIPTIONS = 500
const WANT_ALL = 10
const CONNECTIONS = 64
const CALLS_AT_ONCE = 10

const Types = z.object({ events: z.array(z.object({ name: z.string() })).min(1) })
const Challenge = z.looseObject({ challenge: z.string().optional() })

const callback = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => Response.json({ challenge: Challenge.parse(await request.json()).challenge }),
})
await using service = await startBenchService()
const endpoint = await service.endpoint({ name: 'measured' })
const { events } = Types.parse(await service.call('GET', '/api/v1/events/types'))
const name = events[0]?.name ?? ''
const delivery = {
  mode: 'webhook',
  url: `http://127.0.0.1:${callback.port}/`,
  secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
}
const argumentsOf = (at: number) =>
  at < WANT_ALL ? { fields: [`body.f${at}`] } : { labels: [`label ${at}`] }
const each = async (path: string) => {
  for (let from = 0; from < SUBSCRIPTIONS; from += CALLS_AT_ONCE) {
    const calls = Array.from({ length: CALLS_AT_ONCE }, (_, at) =>
      service.call('POST', path, { name, arguments: argumentsOf(from + at), delivery }),
    )
    await Promise.all(calls)
  }
}
const burst = async () =>
  (
    await load({
      url: endpoint.url,
      connections: CONNECTIONS,
      seconds: Number(values.seconds),
      warmupSeconds: 0.5,
      headers: HEADERS,
      body: BODY,
    })
  ).perSecond

await burst()
const [without, withAll, ratios]: [number[], number[], number[]] = [[], [], []]
for (let round = 0; round < Number(values.rounds); round += 1) {
  const bare = await burst()
  // The first alone: its check of the callback counts for the others.
  await service.call('POST', '/api/v1/subscriptions', { name, arguments: argumentsOf(0), delivery })
  await each('/api/v1/subscriptions')
  const subscribed = await burst()
  await each('/api/v1/subscriptions/unsubscribe')
  without.push(bare)
  withAll.push(subscribed)
  ratios.push(subscribed / bare)
}
const group = 'subscriptions'
report({ group, name: 'captures without subscriptions', value: percentile(without, 0.5), unit: '/s' })
report({ group, name: `captures with ${SUBSCRIPTIONS}`, value: percentile(withAll, 0.5), unit: '/s' })
report({
  group,
  name: `captures with ${SUBSCRIPTIONS}, against none`,
  value: percentile(ratios, 0.5),
  unit: '×',
  goal: { atLeast: 0.95 },
})
await callback.stop(true)
