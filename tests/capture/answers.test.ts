import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Client } from '../support/client.ts'
import { sendRaw } from '../support/rawSender.ts'
import { startService, type TestService } from '../support/service.ts'

const PROTECTION = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
}

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
  alice = service.alice
})

const headersOf = (answer: Response, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]))
const protectionOf = (answer: Response) => headersOf(answer, ...Object.keys(PROTECTION))

describe('a capture is answered', () => {
  test('with {"ok":true} unless told otherwise', async () => {
    const answer = await (await alice.endpoint()).send()
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: '{"ok":true}' })
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(protectionOf(answer)).toEqual(PROTECTION)
  })

  test('as configured', async () => {
    const endpoint = await alice.endpoint({
      responseStatusCode: 422,
      responseContentType: 'application/problem+json; charset=utf-8',
      responseHeaders: { 'X-Trace': 'Zoë', 'Cache-Control': 'max-age=5', 'Access-Control-Allow-Origin': '*' },
      responseBody: '{"title":"é"}',
    })
    const answer = await endpoint.send()
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 422,
      text: '{"title":"é"}',
    })
    expect(headersOf(answer, 'content-type', 'cache-control', 'access-control-allow-origin')).toEqual({
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'max-age=5',
      'access-control-allow-origin': '*',
    })
    expect(Buffer.from(answer.headers.get('x-trace') ?? '', 'latin1').toString()).toBe('Zoë')
    expect(protectionOf(answer)).toEqual(PROTECTION)
  })

  test('with no body for 204, 205 and HEAD', async () => {
    for (const [status, method] of [
      [204, 'POST'],
      [205, 'POST'],
      [200, 'HEAD'],
    ] as const) {
      const endpoint = await alice.endpoint({ responseStatusCode: status, responseBody: 'text' })
      const answer = await sendRaw(
        endpoint.url,
        `${method} /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      )
      expect({ status: answer.status, body: answer.body }).toEqual({ status, body: '' })
      expect(answer.fields).toContain('X-Content-Type-Options: nosniff')
    }
  })

  test('safely when what is stored is older than the rules', async () => {
    const endpoint = await alice.endpoint()
    await service.db
      .updateTable('endpoints')
      .set({
        responseStatusCode: 302,
        responseContentType: 'text/html',
        responseHeaders: JSON.stringify({
          Location: 'https://evil.test',
          'Set-Cookie': 'a=b',
          'X-Fine': 'yes',
        }),
        responseBody: '<script>alert(1)</script>',
      })
      .where('id', '=', endpoint.id)
      .execute()
    const answer = await endpoint.send()
    expect(answer.status).toBe(200)
    expect(headersOf(answer, 'content-type', 'location', 'set-cookie', 'x-fine')).toEqual({
      'content-type': 'text/plain',
      location: null,
      'set-cookie': null,
      'x-fine': 'yes',
    })
    expect(protectionOf(answer)).toEqual(PROTECTION)
    expect(await answer.text()).toBe('<script>alert(1)</script>')
  })

  test("with the answer to its provider's challenge, which is stored like any capture", async () => {
    const endpoint = await alice.endpoint({ provider: 'slack' })
    const body = JSON.stringify({ type: 'url_verification', token: 't', challenge: 'c-123' })
    const answer = await endpoint.send({ body })
    expect({ status: answer.status, text: await answer.text() }).toMatchObject({ status: 200 })
    expect(protectionOf(answer)).toEqual(PROTECTION)
    expect(await endpoint.requests()).toHaveLength(1)
    const plain = await endpoint.send({ body: '{}' })
    expect(await plain.text()).toBe('{"ok":true}')
  })
})

describe('what changes is in force at once', () => {
  test('the response, fifty times in a row', async () => {
    const endpoint = await alice.endpoint()
    for (let turn = 0; turn < 50; turn += 1) {
      await alice.patch(endpoint.at(''), { responseBody: `turn ${turn}` })
      expect(await (await endpoint.send()).text()).toBe(`turn ${turn}`)
    }
  })

  test('the secret that signatures are checked with', async () => {
    const endpoint = await alice.endpoint({ signatureHeader: 'X-Sig', signingSecret: 'a'.repeat(20) })
    for (const secret of ['first secret 12345', 'second secret 1234', 'first secret 12345']) {
      await alice.patch(endpoint.at(''), { signingSecret: secret })
      const mac = new Bun.CryptoHasher('sha256', secret).update('{}').digest('hex')
      expect(await endpoint.capture({ headers: { 'X-Sig': mac } })).toMatchObject({
        verification: { verdict: 'verified' },
      })
    }
  })

  test('the plan', async () => {
    const client = await service.newClient('team')
    const endpoint = await client.endpoint()
    const body = 'x'.repeat(300_000)
    expect(await endpoint.capture({ body })).toMatchObject({ bodyTruncated: false })
    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'free' })
    // The first is read under the previous plan, as if it were in flight; later ones are read under the new plan.
    await endpoint.send({ body })
    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'solo' })
    expect(await endpoint.capture({ body })).toMatchObject({ sizeBytes: 300_000 })
  })
})

describe('a sender is answered 404', () => {
  const expectGone = async (answer: Response) => {
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 404,
      text: '{"error":"not_found"}',
    })
    expect(headersOf(answer, 'content-type', 'cache-control')).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    })
    expect(protectionOf(answer)).toEqual(PROTECTION)
  }

  test('for an id that is unknown or malformed', async () => {
    for (const token of [randomUUID(), 'x', `${randomUUID()}x`, `${randomUUID()};a`, '', '%00']) {
      await expectGone(await fetch(`${service.captureUrl}/hook/${token}`, { method: 'POST', body: '{}' }))
    }
  })

  test('for a deleted endpoint, at once', async () => {
    const endpoint = await alice.endpoint()
    expect((await endpoint.send()).status).toBe(200)
    await alice.delete(endpoint.at(''))
    await expectGone(await endpoint.send())
  })

  test('for an expired one, the moment it expires', async () => {
    const endpoint = await alice.endpoint({ ttlSeconds: 60 })
    expect((await endpoint.send()).status).toBe(200)
    await service.clock.advance(60_000)
    await expectGone(await endpoint.send())
    expect(await endpoint.requests()).toHaveLength(1)
  })

  test('for one that is switched off, until it is on again', async () => {
    const endpoint = await alice.endpoint({ isActive: false })
    await expectGone(await endpoint.send())
    await alice.patch(endpoint.at(''), { isActive: true })
    expect((await endpoint.send()).status).toBe(200)
    await alice.patch(endpoint.at(''), { isActive: false })
    await expectGone(await endpoint.send())
  })

  test('for one that the plan suspends', async () => {
    const endpoint = await alice.endpoint()
    await service.db
      .updateTable('endpoints')
      .set({ suspendedByPlan: true })
      .where('id', '=', endpoint.id)
      .execute()
    await expectGone(await endpoint.send())
  })

  test('before its body has come, and hung up on', async () => {
    const head = `POST /hook/${randomUUID()} HTTP/1.1\r\nHost: h\r\n`
    const answer = await sendRaw(service.captureUrl, `${head}Content-Length: 500000\r\n\r\n`)
    expect(answer).toMatchObject({ status: 404, body: '{"error":"not_found"}' })
    expect(answer.fields).toContain('Connection: close')
  })

  test('with the connection left open when the request is whole', async () => {
    const head = `POST /hook/${randomUUID()} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n`
    const answer = await sendRaw(service.captureUrl, `${head}\r\n{}`, `${head}Connection: close\r\n\r\n{}`)
    expect(answer.status).toBe(404)
    expect(answer.body).toContain('HTTP/1.1 404 ')
  })
})
