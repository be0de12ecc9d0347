import { beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Compressed bodies as agents see them: decoded and masked, never as bytes that hide secrets. */

let service: TestService
let agent: Client

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  agent = new Client({ name: 'test', version: '1' })
  await agent.connect(
    new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${service.alice.key}` } },
    }),
  )
})

const Result = z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]) })
const Part = z.looseObject({
  body: z.string().nullable(),
  bodyIsBinary: z.boolean(),
  bodyBytes: z.int(),
  nextBodyOffset: z.int().nullable(),
})

async function call(name: string, input: Record<string, unknown>) {
  const { content } = Result.parse(await agent.callTool({ name, arguments: input }))
  const { text } = content[0]
  // No tool shows the secret, nor bytes that hold it.
  expect(text).not.toContain('opens-doors')
  for (const part of text.match(/[A-Za-z0-9+/]{16,}=*/g) ?? [])
    expect(Buffer.from(part, 'base64').subarray(0, 2)).not.toEqual(Buffer.from([0x1f, 0x8b]))
  return z.looseObject({}).parse(JSON.parse(text))
}

const EVENT = '{"user":"ada","client_secret":"opens-doors","amount":1.50}'
const MASKED = '{"user":"ada","client_secret":"***","amount":1.50}'
const encodedAs = (encoding: string) => ({ 'Content-Encoding': encoding, 'Content-Type': 'application/json' })

test('a compressed body is read in parts, decoded and masked', async () => {
  const endpoint = await service.alice.endpoint()
  const sent = { headers: encodedAs('gzip'), body: gzipSync(EVENT) }
  const { id: requestId } = await endpoint.capture(sent)
  const named = { endpointId: endpoint.id, requestId }
  const whole = { body: MASKED, bodyIsBinary: false, bodyBytes: EVENT.length, nextBodyOffset: null }
  expect(await call('read_request', named)).toMatchObject({
    ...whole,
    decodedBody: { encoding: 'gzip', sizeBytes: EVENT.length, fault: null },
  })
  expect(await call('await_request', { endpointId: endpoint.id })).toMatchObject(whole)
  expect(await call('read_request', { ...named, maxBodyBytes: 10 })).toMatchObject({
    body: EVENT.slice(0, 10),
    nextBodyOffset: 10,
  })
  const resource = await agent.readResource({ uri: `creel://endpoints/${endpoint.id}/requests/${requestId}` })
  expect(JSON.stringify(resource)).not.toContain('opens-doors')
  expect(JSON.stringify(resource)).toContain('\\"user\\\\\\":')
})

test('a long compressed body is decoded up to the end of the part', async () => {
  const endpoint = await service.alice.endpoint()
  const text = JSON.stringify({
    password: 'opens-doors',
    noise: randomBytes(200_000).toString('hex'),
    last: true,
  })
  const { id: requestId } = await endpoint.capture({
    headers: encodedAs('br'),
    body: brotliCompressSync(text),
  })
  const read = async (bodyOffset: number) =>
    Part.parse(
      await call('read_request', { endpointId: endpoint.id, requestId, bodyOffset, maxBodyBytes: 65_536 }),
    )
  const first = await read(0)
  expect(first).toMatchObject({ bodyIsBinary: false, bodyBytes: text.length, nextBodyOffset: 65_536 })
  expect(first.body).toStartWith('{"password":"***","noise":"')
  expect((await read(65_536 * 6)).body).toBe(text.slice(65_536 * 6))
})

test('a body that cannot be decoded is left out, with the reason', async () => {
  const endpoint = await service.alice.endpoint()
  const read = async (headers: Record<string, string>, body: Uint8Array) => {
    const { id: requestId } = await endpoint.capture({ headers, body: new Uint8Array(body) })
    return await call('read_request', { endpointId: endpoint.id, requestId })
  }
  const leftOut = { body: null, bodyIsBinary: true, nextBodyOffset: null }
  const bomb = gzipSync(`${EVENT}${' '.repeat(500_000)}`)
  expect(await read(encodedAs('gzip'), bomb)).toMatchObject({
    ...leftOut,
    decodedBody: { fault: 'too_long' },
  })
  expect(await read(encodedAs('lzma'), gzipSync(EVENT))).toMatchObject({
    ...leftOut,
    decodedBody: { fault: 'unknown_encoding' },
  })
  // Bytes of a long body are not text either.
  const long = gzipSync(randomBytes(100_000))
  expect(await read(encodedAs('gzip'), long)).toMatchObject({ ...leftOut, bodyBytes: 0 })
  // A body that is not encoded is text, and masked as such.
  expect(await read(encodedAs('gzip'), Buffer.from(EVENT))).toMatchObject({
    body: MASKED,
    bodyIsBinary: false,
  })
})

test('attempts and previews show compressed bodies decoded', async () => {
  await using receiver = await startReceiver({
    status: 200,
    headers: encodedAs('gzip'),
    body: gzipSync('{"token":"opens-doors","ok":true}'),
  })
  const endpoint = await service.alice.endpoint()
  const endpointId = endpoint.id
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
  const { id: requestId } = await endpoint.capture({ headers: encodedAs('gzip'), body: gzipSync(EVENT) })
  await call('await_request', { endpointId, state: 'Succeeded' })
  const Attempts = z.looseObject({ items: z.tuple([z.looseObject({ id: z.int() })]) })
  const { items } = Attempts.parse(await call('read_deliveries', { endpointId, requestId }))
  expect(await call('read_delivery', { endpointId, attemptId: items[0].id })).toMatchObject({
    sent: { body: MASKED, bodyIsBinary: false, decodedBody: { encoding: 'gzip' } },
    received: { body: '{"token":"***","ok":true}', bodyIsBinary: false },
  })
  const rule = { version: 1, name: 'Mark', steps: [{ op: 'set', path: 'headers.x-mark', value: '1' }] }
  expect(await call('preview_rule', { endpointId, requestId, rule })).toMatchObject({
    output: { body: MASKED, bodyIsBinary: false },
  })
})
