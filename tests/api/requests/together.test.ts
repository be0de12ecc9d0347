import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { startService } from '../../support/service.ts'

/** Equal calls at the same time share one read, without any other effect. */

const BUDGET = 600
const AT_ONCE = 24

const { alice, bob } = await startService({ parts: ['gateway'], limits: { apiRatePerMinute: BUDGET } })

const Page = z.object({ items: z.array(z.looseObject({ id: z.int() })) })
const idsIn = (body: unknown) => Page.parse(body).items.map(({ id }) => id)

const atOnce = <Result>(make: (index: number) => Promise<Result>, count = AT_ONCE) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

describe('reads of the same at the same time', () => {
  test('all get it, each with a trace id of its own', async () => {
    const endpoint = await alice.endpoint()
    const rows = await endpoint.captureMany(3)
    const answers = await atOnce(() => alice.get(endpoint.at('/requests')))
    for (const { body, status } of answers) {
      expect(status).toBe(200)
      expect(idsIn(body)).toEqual(rows.map(({ id }) => id).reverse())
    }
    expect(new Set(answers.map(({ headers }) => headers.get('creel-trace-id'))).size).toBe(AT_ONCE)
  })

  test('each that is refused hears why', async () => {
    const endpoint = await alice.endpoint()
    const answers = await atOnce(() => alice.get(endpoint.at('/requests/1')))
    for (const { body, headers } of answers) {
      expect(body).toMatchObject({ code: 'not_found', traceId: headers.get('creel-trace-id') ?? '' })
    }
  })

  test('calls for different things get what they asked for', async () => {
    const endpoint = await alice.endpoint()
    const rows = await endpoint.captureMany(4)
    const answers = await atOnce(async (index) => {
      const row = rows[index % rows.length]
      const { body } = await alice.get(endpoint.at(`/requests/${row?.id}`))
      return Reflect.get(Object(body), 'id') === row?.id
    })
    expect(answers).not.toContain(false)
  })

  test('a key that was revoked opens nothing of what others ask for', async () => {
    const endpoint = await alice.endpoint()
    const answers = await atOnce((index) => (index % 2 === 0 ? alice : bob).get(endpoint.at('/requests')))
    for (const [index, { status }] of answers.entries()) expect(status).toBe(index % 2 === 0 ? 200 : 401)
  })

  test('what is stored before a call is in its answer, however many ask meanwhile', async () => {
    const endpoint = await alice.endpoint()
    for (let stored = 1; stored <= 5; stored += 1) {
      const asking = atOnce(() => endpoint.requests('pageSize=50'), 8)
      await (await endpoint.send()).body?.cancel()
      expect(await endpoint.requests('pageSize=50')).toHaveLength(stored)
      await asking
    }
  })

  test('who hangs up takes nothing from the others', async () => {
    const endpoint = await alice.endpoint()
    await endpoint.capture()
    const answers = await atOnce(async (index) => {
      const hangUp = new AbortController()
      const asked = alice.get(endpoint.at('/requests'), { signal: hangUp.signal })
      if (index % 2 === 1) return (await asked).status
      hangUp.abort()
      return await asked.then(
        () => 'answered',
        () => 'gone',
      )
    })
    for (const [index, answer] of answers.entries()) if (index % 2 === 1) expect(answer).toBe(200)
  })

  test('each pays for itself', async () => {
    const endpoint = await alice.endpoint()
    const answers = await atOnce(() => alice.get(endpoint.at('/requests')), BUDGET + 20)
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(20)
  })
})
