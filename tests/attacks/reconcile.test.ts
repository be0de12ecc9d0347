import { afterAll, beforeAll, test } from 'bun:test'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { type StripeApi, startStripeApi } from '../support/stripeApi.ts'
import { type AttackedService, startAttackedService } from './attackedService.ts'

/** Reconciliations of one workspace with a sender whose list is long and has no end. */

/** Characters of a page: a little less than is read of one. */
const PAGE_CHARACTERS = 4 * 1024 * 1024
const RUNS = 10
const PAGES = 40

let service: AttackedService
let stripe: StripeApi

beforeAll(async () => {
  stripe = await startStripeApi()
  service = await startAttackedService({
    env: { CREEL_PROVIDER_API_URLS: `stripe=${stripe.url}`, CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' },
    words: [],
    isExpectedError: () => false,
  })
})

afterAll(async () => {
  await service.stop()
  await stripe[Symbol.asyncDispose]()
})

test('long pages without end leave the others their time and memory', async () => {
  const pad = (index: number) =>
    JSON.stringify({
      id: `evt_${index}`,
      object: 'event',
      type: 'a.b',
      created: Math.floor(Date.now() / 1000) - 7200,
      data: { object: Array.from({ length: 100 }, (_, at) => ({ at, text: 'x'.repeat(370) })) },
    })
  const events = Array.from({ length: 100 }, (_, index) => pad(index))
  const page = Buffer.from(`{"object":"list","has_more":true,"data":[${events.join(',')}]}`)
  if (page.length > PAGE_CHARACTERS) throw new Error(`The page has ${page.length} bytes.`)
  let pages = 0
  stripe.interfere = (_call, response) => {
    pages += 1
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(page)
    return true
  }
  const call = async (path: string, body: object) =>
    await (
      await fetch(`http://127.0.0.1:${service.port}/api/v1/endpoints${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${service.attackersKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json()
  const WithId = z.looseObject({ id: z.string() })
  const ids: string[] = []
  for (let made = 0; made < RUNS; made += 1) ids.push(WithId.parse(await call('', { provider: 'stripe' })).id)
  await service.attackedBy(async () => {
    for (const id of ids) {
      const since = new Date(Date.now() - 86_400_000).toISOString()
      WithId.parse(
        await call(`/${id}/reconcile`, { credentials: { apiKey: 'rk_test' }, since, dryRun: true }),
      )
    }
    await eventually('many pages', () => pages >= PAGES)
  })
  stripe.interfere = undefined
})
