import { beforeAll, describe, expect, test } from 'bun:test'
import type { Answer, TestEndpoint } from '../../support/client.ts'
import { wrongParts } from '../../support/problems.ts'
import { sendRaw } from '../../support/rawSender.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ limits: { payloadBytesMax: 1000 } })
})

const membersOf = ({ body }: Answer): Record<string, unknown> => Object(body)
const send = (endpoint: TestEndpoint, id: number, body: object) =>
  endpoint.client.post(endpoint.at(`/requests/${id}/send`), body)

/** Condition that no capture meets, so that only sends of a test go out. */
const NEVER = { path: 'label', op: 'eq', value: 'never' }

async function action(endpoint: TestEndpoint, members: object): Promise<string> {
  const answer = await endpoint.client.post(endpoint.at('/actions'), {
    kind: 'forward',
    condition: NEVER,
    ...members,
  })
  return String(membersOf(answer).id)
}

describe('POST …/requests/{requestId}/send', () => {
  test('what was changed goes out, signed anew; the attempt records it and the capture stays', async () => {
    await using receiver = await startReceiver({ status: 422, body: 'field customer.zip' })
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url, signingSecret: 'whsec_0123456789abcdef' })
    const request = await endpoint.capture({ body: '{"amount":1}', headers: { 'x-a': 'one' } })
    const answer = await send(endpoint, request.id, {
      actionId,
      method: 'PUT',
      headers: [
        { name: 'Content-Type', value: 'text/plain' },
        { name: 'X-A', value: 'zwei ü' },
        { name: 'X-A', value: 'three' },
        { name: 'Host', value: 'elsewhere.example' },
      ],
      body: '{"amount":990}',
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      requestId: request.id,
      actionId,
      trigger: 'edited',
      state: 'Failed',
      statusCode: 422,
      sent: { method: 'PUT', body: '{"amount":990}' },
      received: { statusCode: 422, body: 'field customer.zip' },
    })
    const [received] = await receiver.take(1)
    expect(received?.method).toBe('PUT')
    expect(received?.body.toString()).toBe('{"amount":990}')
    expect(received?.header('host')).toBe(new URL(receiver.url).host)
    expect(received?.header('creel-signature')).toMatch(/^t=\d+/)
    expect(received?.rawHeaders.filter(([name]) => name === 'X-A').map(([, value]) => value)).toEqual([
      Buffer.from('zwei ü').toString('latin1'),
      'three',
    ])
    const kept = await endpoint.client.get(endpoint.at(`/requests/${request.id}`))
    expect(kept.body).toMatchObject({
      method: 'POST',
      body: '{"amount":1}',
      attemptCount: 1,
      state: 'Failed',
    })
  })

  test('what is left out is as captured; the rules and the signature can be left out', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url, signingSecret: 'whsec_0123456789abcdef' })
    await endpoint.client.post(endpoint.at('/transformations'), {
      version: 1,
      name: 'Slim',
      steps: [{ op: 'remove', paths: ['body.secret'] }],
    })
    const request = await endpoint.capture({
      body: '{"secret":"hush","a":1.10}',
      headers: { 'x-kept': 'yes' },
    })
    const shaped = await send(endpoint, request.id, { actionId })
    const plain = await send(endpoint, request.id, { actionId, sign: false, transform: false })
    expect(membersOf(shaped)).toMatchObject({ transformed: true, sent: { body: '{"a":1.10}' } })
    expect(membersOf(plain)).toMatchObject({
      transformed: false,
      sent: { body: '{"secret":"hush","a":1.10}' },
    })
    const [first, second] = await receiver.take(2)
    expect([first?.header('creel-signature') !== undefined, first?.header('x-kept')]).toEqual([true, 'yes'])
    expect(second?.header('creel-signature')).toBeUndefined()
  })

  test('a binary body goes out byte by byte, and is recorded', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const request = await endpoint.capture()
    const body = Buffer.from([0, 255, 128, 10]).toString('base64')
    const answer = await send(endpoint, request.id, { actionId, body, bodyIsBinary: true })
    expect(membersOf(answer)).toMatchObject({ sent: { body, bodyIsBinary: true } })
    const [received] = await receiver.take(1)
    expect([...(received?.body ?? [])]).toEqual([0, 255, 128, 10])
  })

  test('a binary body that is not base64 is refused; its alphabet, padding and line breaks are free', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const request = await endpoint.capture()
    for (const body of ['hello!', 'hello', 'aa=a', 'aa==='])
      expect(wrongParts(await send(endpoint, request.id, { actionId, body, bodyIsBinary: true }))).toEqual([
        '#/body bad_format',
      ])
    for (const body of ['+/8=', '-_8', '+/\n8=\n'])
      await send(endpoint, request.id, { actionId, body, bodyIsBinary: true })
    const sent = (await receiver.take(3)).map(({ body }) => body.toString('hex'))
    expect(sent).toEqual(['fbff', 'fbff', 'fbff'])
  })

  test('a method and headers as long and as many as a capture has are sent back', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const fields = Array.from({ length: 400 }, (_, at) => `x-${at}: ${at}\r\n`).join('')
    const method = 'M'.repeat(128)
    await sendRaw(
      endpoint.url,
      `${method} /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\n${fields}Connection: close\r\n\r\n`,
    )
    const [request] = await endpoint.requests()
    const { body } = await endpoint.client.get(endpoint.at(`/requests/${request?.id}`))
    const { rawHeaders: headers } = Object(body)
    expect(headers).toHaveLength(402)
    // The receiver takes neither.
    const { status, body: attempt } = await send(endpoint, request?.id ?? 0, { actionId, method, headers })
    expect(status).toBe(200)
    expect(attempt).toMatchObject({ sent: { method, headers: { 'x-399': '399' } } })
  })

  test('a loop cannot be edited open', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const request = await endpoint.capture({ headers: { 'creel-hops': '3' } })
    const answer = await send(endpoint, request.id, {
      actionId,
      headers: [{ name: 'creel-hops', value: '0' }],
    })
    expect(membersOf(answer)).toMatchObject({ state: 'Errored', error: 'loop', sent: null })
    expect(receiver.received).toEqual([])
  })

  test('repeated fields of the record are joined with ", ", cookies too; raw headers list them', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const request = await endpoint.capture()
    const headers = [
      { name: 'Cookie', value: 'a=1' },
      { name: 'X-A', value: 'one' },
      { name: 'Cookie', value: 'b=2' },
      { name: 'X-A', value: 'two' },
    ]
    const { sent } = membersOf(await send(endpoint, request.id, { actionId, headers }))
    expect(sent).toMatchObject({
      headers: { Cookie: 'a=1, b=2', 'X-A': 'one, two' },
      rawHeaders: expect.arrayContaining(headers),
    })
  })

  test('a request that is deleted during the send is answered with the attempt all the same', async () => {
    const mayAnswer = Promise.withResolvers<void>()
    await using receiver = await startReceiver(async (_, response) => {
      await mayAnswer.promise
      response.end()
    })
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const request = await endpoint.capture()
    const sending = send(endpoint, request.id, { actionId })
    await receiver.take(1)
    expect((await endpoint.client.delete(endpoint.at(`/requests/${request.id}`))).status).toBeLessThan(300)
    mayAnswer.resolve()
    const answer = await sending
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ requestId: request.id, state: 'Succeeded', sent: { method: 'POST' } })
  })

  test('an oversize trace is sent only with a body of its own', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const actionId = await action(endpoint, { url: receiver.url })
    const request = await endpoint.capture({ body: 'x'.repeat(2000) })
    const refused = await send(endpoint, request.id, { actionId })
    expect([refused.status, membersOf(refused).code]).toEqual([400, 'validation_failed'])
    expect((await send(endpoint, request.id, { actionId, body: 'whole' })).body).toMatchObject({
      state: 'Succeeded',
    })
  })

  test('bad input is named, all of it; an action that is off, that notifies or is elsewhere is refused', async () => {
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture()
    const off = await action(endpoint, { url: 'http://127.0.0.1:9/', isActive: false })
    const bad = await send(endpoint, request.id, {
      method: 'PO ST',
      headers: [
        { name: 'a b', value: 'x\r\ny: z' },
        { name: 'a', value: 'b\u0001c' },
      ],
      body: 7,
      sign: 'yes',
    })
    expect(bad.status).toBe(400)
    const pointers = Object(membersOf(bad)).errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(pointers.toSorted()).toEqual([
      '#/actionId',
      '#/body',
      '#/headers/0/name',
      '#/headers/0/value',
      '#/headers/1/value',
      '#/method',
      '#/sign',
    ])
    expect((await send(endpoint, request.id, { actionId: off })).body).toMatchObject({
      code: 'action_inactive',
    })
    const elsewhere = await service.alice.endpoint()
    const other = await action(elsewhere, { url: 'http://127.0.0.1:9/' })
    expect((await send(endpoint, request.id, { actionId: other })).status).toBe(404)
  })
})
