/** Relayed answers that another process has received, that are sealed at rest, or that no record may repeat. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { type ReceiverAnswer, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let alice: Client
/** A gateway without workers beside workers without a gateway. */
let apart: TestService

beforeAll(async () => {
  service = await startService()
  alice = service.alice
  apart = await startService({ parts: ['gateway'] })
  const { database, clock, secretKey } = apart
  await startService({ parts: ['jobs'], database, clock, secretKey })
})

const WithId = z.looseObject({ id: z.string() })
const Requests = z.looseObject({
  items: z.array(
    z.looseObject({
      answeredBy: z.looseObject({ kind: z.string(), note: z.string().nullable() }).nullable(),
    }),
  ),
})

const ANSWER: ReceiverAnswer = {
  status: 201,
  headers: { 'Content-Type': 'text/plain', 'X-Trace': 'Zoë', 'X-Part': ['one', 'two'] },
  body: 'Zoë was here',
}

async function relaying(client: Client, url: string, members: Readonly<Record<string, unknown>> = {}) {
  const endpoint = await client.endpoint(members)
  const { id } = await client.expect(client.post(endpoint.at('/actions'), { kind: 'forward', url }), WithId)
  const answerFrom = { actionId: id, timeoutMs: 10_000, fallback: { status: 503, body: 'later' } }
  await client.expect(client.patch(endpoint.at(''), { answerFrom }), WithId)
  return endpoint
}

const answeredBy = async ({ client, id }: TestEndpoint) => {
  const { items } = await client.expect(client.get(`/api/v1/endpoints/${id}/requests`), Requests)
  return items[0]?.answeredBy
}

/** Headers of an answer as they were on the wire. */
async function rawAnswer(endpoint: TestEndpoint) {
  const answer = await endpoint.send({ body: '{"card":"4242","id":1}' })
  const traced = Buffer.from(answer.headers.get('x-trace') ?? '', 'latin1').toString('latin1')
  return { status: answer.status, text: await answer.text(), traced, parts: answer.headers.get('x-part') }
}

describe('a relayed answer', () => {
  test.each([
    ['of this process', () => alice],
    ['of another process', () => apart.alice],
  ])('%s is as the receiver wrote it', async (_name, client) => {
    await using receiver = await startReceiver(ANSWER)
    const endpoint = await relaying(client(), receiver.url)
    expect(await rawAnswer(endpoint)).toEqual({
      status: 201,
      text: 'Zoë was here',
      traced: 'Zoë',
      parts: 'one, two',
    })
    expect(await answeredBy(endpoint)).toMatchObject({ kind: 'action' })
  })

  test.each([
    ['of this process', () => alice],
    ['of another process', () => apart.alice],
  ])('%s comes through an endpoint that encrypts', async (_name, client) => {
    await using receiver = await startReceiver(ANSWER)
    const endpoint = await relaying(client(), receiver.url, { encryptBodies: true })
    expect(await rawAnswer(endpoint)).toMatchObject({ status: 201, text: 'Zoë was here' })
  })

  test.each([
    ['of this process', () => alice],
    ['of another process', () => apart.alice],
  ])('%s to an original is relayed, although its record does not repeat it', async (_name, client) => {
    await using receiver = await startReceiver(ANSWER)
    const members = {
      storeRules: [{ steps: [{ op: 'remove', paths: ['body.card'] }] }],
      forwardOriginal: true,
    }
    const endpoint = await relaying(client(), receiver.url, members)
    expect(await rawAnswer(endpoint)).toMatchObject({ status: 201, text: 'Zoë was here' })
    expect(receiver.received[0]?.body.toString()).toBe('{"card":"4242","id":1}')
  })
})
