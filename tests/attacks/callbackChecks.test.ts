import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Client } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const Body = z.looseObject({ challenge: z.string() })
const secret = () => `whsec_${randomBytes(32).toString('base64')}`

test('failed checks at a host refuse those who fail there, under any of its ports, and only slow down others', async () => {
  const { clock, newClient } = await startService({
    limits: { apiRatePerMinute: 100_000 },
    allowDestinations: ['127.0.0.0/8', 'localhost'],
  })
  const answer: Parameters<typeof startReceiver>[0] = (request, response) => {
    const { challenge } = Body.parse(JSON.parse(request.body.toString()))
    response.writeHead(request.url.startsWith('/bad') ? 404 : 200).end(JSON.stringify({ challenge }))
  }
  await using shared = await startReceiver(answer)
  await using another = await startReceiver(answer)
  const subscribe = async (client: Client, url: string) => {
    const delivery = { mode: 'webhook', url, secret: secret() }
    return (await client.post('/api/v1/subscriptions', { name: 'any.any', delivery })).status
  }
  const member = async () => {
    const client = await newClient()
    await client.endpoint({ name: 'any' })
    await client.get('/api/v1/events/types')
    return client
  }

  const attackers = await Promise.all([member(), member(), member(), member()])
  for (const path of ['a', 'b', 'c']) {
    await Promise.all(
      attackers.map(async (client) => {
        for (let at = 0; at < 10; at += 1) {
          const url = `http://127.0.0.1:${shared.port}/bad/${path}/${at}`
          expect(await subscribe(client, url)).toBe(400)
        }
      }),
    )
    await clock.advance(61_000)
  }
  for (const client of attackers) {
    expect(await subscribe(client, `http://127.0.0.1:${another.port}/bad`)).toBe(429)
    expect(await subscribe(client, `http://localhost:${shared.port}/good`)).not.toBe(429)
  }
  expect(await subscribe(await member(), `http://127.0.0.1:${shared.port}/good`)).toBe(200)
})

test('a dot at the end of a host is the same host', async () => {
  const { clock, newClient } = await startService({
    limits: { apiRatePerMinute: 100_000 },
    allowDestinations: ['127.0.0.0/8', 'localhost', 'localhost.'],
  })
  const client = await newClient()
  await client.endpoint({ name: 'any' })
  await client.get('/api/v1/events/types')
  await using receiver = await startReceiver({ status: 404 })
  const statuses: number[] = []
  for (let at = 0; at < 31; at += 1) {
    const delivery = {
      mode: 'webhook',
      url: `http://localhost${at % 2 === 0 ? '' : '.'}:${receiver.port}/${at}`,
    }
    const body = { name: 'any.any', delivery: { ...delivery, secret: secret() } }
    statuses.push((await client.post('/api/v1/subscriptions', body)).status)
    if (at % 10 === 9) await clock.advance(61_000)
  }
  expect(statuses.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 400))
  expect(statuses.at(-1)).toBe(429)
})
