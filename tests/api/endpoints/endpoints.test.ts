import { beforeAll, describe, expect, test } from 'bun:test'
import type { Trx } from '@creel/core'
import { eventually } from '../../support/eventually.ts'
import { holdOpen } from '../../support/heldWrites.ts'
import { isWaitingForLock } from '../../support/lockWaits.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('POST /api/v1/endpoints', () => {
  test('{} makes an endpoint with every default, and every field is there', async () => {
    const { alice, captureUrl } = service
    const answer = await alice.post('/api/v1/endpoints', {})
    expect(answer.status).toBe(201)
    const { id, createdAt, ...rest } = Object(answer.body)
    expect(id).toMatch(UUID)
    expect(new Date(createdAt).toISOString()).toBe(createdAt)
    expect(rest).toEqual({
      name: 'Untitled endpoint',
      url: `${captureUrl}/hook/${id}`,
      isActive: true,
      suspendedByPlan: false,
      lastRequestAt: null,
      expiresAt: null,
      expired: false,
      storedRequestCount: 0,
      responseStatusCode: 200,
      responseContentType: 'application/json',
      responseHeaders: {},
      responseBody: '{"ok":true}',
      responses: [],
      answerFrom: null,
      provider: null,
      eventIdPath: null,
      columns: [],
      dedupe: null,
      rejectUnverified: false,
      allowRehearsal: true,
      allowCors: false,
      allowedSenders: [],
      storeRules: [],
      dropHeaders: [],
      forwardOriginal: false,
      encryptBodies: false,
      originalHours: null,
      forwardingEnabled: false,
      forwardUrl: null,
      forwardSigning: { signed: false, setAt: null },
      verification: {
        source: 'none',
        scheme: null,
        family: null,
        secretLabel: null,
        secretSet: false,
        secretSetAt: null,
        handshakeTokenSet: false,
        handshakeTokenNeeded: false,
        manual: null,
      },
      previousUrlUntil: null,
    })
  })

  test('no body, and null for every member, mean the same as {}', async () => {
    const bare = await service.alice.call('POST', '/api/v1/endpoints')
    const nulls = await service.alice.post('/api/v1/endpoints', {
      name: null,
      isActive: null,
      responseHeaders: null,
      ttlSeconds: null,
      forwardUrl: null,
    })
    const withoutIdentity = ({ body }: { body: unknown }) => ({
      ...Object(body),
      id: '',
      url: '',
      createdAt: '',
    })
    expect(bare.status).toBe(201)
    expect(withoutIdentity(nulls)).toEqual(withoutIdentity(bare))
  })

  test('unknown members are ignored, read-only ones among them', async () => {
    const made = await service.alice.post('/api/v1/endpoints', {
      id: 'x',
      storedRequestCount: 7,
      colour: 'red',
    })
    expect(made).toMatchObject({ status: 201, body: { storedRequestCount: 0 } })
    expect(made.text).not.toContain('colour')
  })

  test.each<[string, unknown, string]>([
    ['name', '', '#/name too_short'],
    ['name', 'x'.repeat(101), '#/name too_long'],
    ['name', 7, '#/name type'],
    ['name', 'a\0b', '#/name not_allowed'],
    ['isActive', 'yes', '#/isActive type'],
    ['ttlSeconds', 59, '#/ttlSeconds out_of_range'],
    ['ttlSeconds', 86_401, '#/ttlSeconds out_of_range'],
    ['ttlSeconds', 60.5, '#/ttlSeconds type'],
    ['ttlSeconds', '60', '#/ttlSeconds type'],
    ['provider', 'no-such-provider', '#/provider unknown_value'],
    ['responseStatusCode', 199, '#/responseStatusCode out_of_range'],
    ['responseStatusCode', 302, '#/responseStatusCode out_of_range'],
    ['responseStatusCode', 600, '#/responseStatusCode out_of_range'],
    ['responseContentType', 'text/html', '#/responseContentType not_allowed'],
    ['responseContentType', 'image/svg+xml', '#/responseContentType not_allowed'],
    ['responseContentType', 'application/json; charset=latin1', '#/responseContentType bad_format'],
    ['responseHeaders', { 'Set-Cookie': 'a=b' }, '#/responseHeaders/Set-Cookie not_allowed'],
    ['responseHeaders', { location: 'http://a.dev' }, '#/responseHeaders/location not_allowed'],
    ['responseHeaders', { 'X-Accel-Redirect': '/x' }, '#/responseHeaders/X-Accel-Redirect not_allowed'],
    ['responseHeaders', { 'Creel-Hops': '1' }, '#/responseHeaders/Creel-Hops not_allowed'],
    ['responseHeaders', { 'X A': '1' }, '#/responseHeaders/X%20A bad_format'],
    ['responseHeaders', { 'X-A': '1\r\nSet-Cookie: a=b' }, '#/responseHeaders/X-A bad_format'],
    ['responseBody', 'é'.repeat(32_769), '#/responseBody too_long'],
    ['signingSecret', 'x'.repeat(8193), '#/signingSecret too_long'],
    ['signatureAlgorithm', 'md5', '#/signatureAlgorithm unknown_value'],
    ['signatureEncoding', 'ascii', '#/signatureEncoding unknown_value'],
    ['signaturePrefix', 'x'.repeat(33), '#/signaturePrefix too_long'],
    ['forwardUrl', 'ftp://example.com', '#/forwardUrl bad_url'],
    ['forwardUrl', 'http://10.0.0.1/', '#/forwardUrl not_allowed'],
  ])('%s = %p is refused', async (member, value, part) => {
    const before = Object((await service.alice.get('/api/v1/endpoints')).body).totalCount
    const answer = await service.alice.post('/api/v1/endpoints', { [member]: value })
    expect(wrongParts(answer)).toEqual([part])
    expect(Object((await service.alice.get('/api/v1/endpoints')).body).totalCount).toBe(before)
  })

  test('everything that is wrong is named at once, in document order', async () => {
    const answer = await service.alice.post('/api/v1/endpoints', {
      responseStatusCode: 301,
      name: '',
      responseHeaders: { 'X-Fine': '1', Refresh: '0', 'X-Five': 5, Link: '</a>' },
      ttlSeconds: 1,
    })
    expect(wrongParts(answer)).toEqual([
      '#/responseStatusCode out_of_range',
      '#/name too_short',
      '#/responseHeaders/Refresh not_allowed',
      '#/responseHeaders/X-Five type',
      '#/responseHeaders/Link not_allowed',
      '#/ttlSeconds out_of_range',
    ])
  })

  test('over the plan answers limit_reached; an expired endpoint no longer counts', async () => {
    const { alice, clock } = await startService({ limits: { endpointsMax: 2 } })
    await alice.endpoint()
    await alice.endpoint({ ttlSeconds: 60 })
    expect(await alice.post('/api/v1/endpoints', {})).toMatchObject({
      status: 409,
      body: { code: 'limit_reached' },
    })
    await clock.advance(60_000)
    expect((await alice.post('/api/v1/endpoints', {})).status).toBe(201)
  })

  test('an ephemeral endpoint says when it ends, and its senders get 404 from then on', async () => {
    const { alice, clock } = await startService()
    const endpoint = await alice.endpoint({ ttlSeconds: 60 })
    await endpoint.capture()
    const { createdAt, expiresAt, expired } = Object((await alice.get(endpoint.at(''))).body)
    expect(expired).toBe(false)
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(60_000)
    await clock.advance(61_000)
    expect((await endpoint.send()).status).toBe(404)
    // CI may collect its results late.
    expect((await endpoint.requests()).length).toBe(1)
    expect((await alice.get(endpoint.at(''))).body).toMatchObject({ isActive: true, expired: true })
  })
})

describe('PATCH /api/v1/endpoints/{endpointId}', () => {
  test('changes what is named and nothing else; null is the same as omitted', async () => {
    const endpoint = await service.alice.endpoint({ name: 'before', responseHeaders: { 'X-A': '1' } })
    const before = Object((await service.alice.get(endpoint.at(''))).body)
    const answer = await service.alice.patch(endpoint.at(''), { responseStatusCode: 201, name: null })
    expect(answer).toMatchObject({ status: 200, body: { ...before, responseStatusCode: 201 } })
  })

  test('empty values clear: headers, body, provider', async () => {
    const endpoint = await service.alice.endpoint({
      responseHeaders: { 'X-A': '1' },
      responseBody: 'x',
      provider: 'github',
    })
    const cleared = { responseHeaders: {}, responseBody: '', provider: '' }
    expect(await service.alice.patch(endpoint.at(''), cleared)).toMatchObject({
      status: 200,
      body: { responseHeaders: {}, responseBody: '', provider: null },
    })
  })

  test('takes back what GET answered, and changes nothing by it', async () => {
    const endpoint = await service.alice.endpoint({ name: 'round', provider: 'github' })
    const before = (await service.alice.get(endpoint.at(''))).body
    expect(await service.alice.patch(endpoint.at(''), before)).toMatchObject({ status: 200, body: before })
  })

  test('refuses ttlSeconds, and saves nothing of a body that is partly wrong', async () => {
    const endpoint = await service.alice.endpoint({ name: 'kept' })
    const answer = await service.alice.patch(endpoint.at(''), { name: 'changed', ttlSeconds: 600 })
    expect(wrongParts(answer)).toEqual(['#/ttlSeconds not_allowed'])
    expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({ name: 'kept' })
  })

  test('that no longer fits what another call has written answers 409 concurrent_change, and saves nothing', async () => {
    const { alice, db } = service
    const endpoint = await alice.endpoint({ storeRules: [{ op: 'redact', paths: ['body.a'] }] })
    const made = await alice.post(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/' })
    const actionId = String(Object(made.body).id)
    const { id } = endpoint
    for (const [members, work] of [
      [
        { forwardOriginal: true, name: 'a' },
        (trx: Trx) => trx.updateTable('endpoints').set({ storeRules: '[]' }).where('id', '=', id).execute(),
      ],
      [
        { answerFrom: { actionId }, name: 'b' },
        async (trx: Trx) => {
          await trx.updateTable('endpoints').set({ name: 'c' }).where('id', '=', id).execute()
          await trx.deleteFrom('actions').where('id', '=', actionId).execute()
        },
      ],
    ] as const) {
      await using other = holdOpen(db, work)
      await other.isOpen
      const call = alice.patch(endpoint.at(''), members)
      await eventually('the call, waiting for the endpoint', () => isWaitingForLock(db))
      await other.release()
      expect(await call).toMatchObject({ status: 409, body: { code: 'concurrent_change' } })
    }
    expect((await alice.get(endpoint.at(''))).body).toMatchObject({
      forwardOriginal: false,
      answerFrom: null,
      name: 'c',
    })
  })

  test('names the action of an answer that the same call removes or switches off', async () => {
    const { alice } = service
    const endpoint = await alice.endpoint({ forwardUrl: 'http://127.0.0.1:9/' })
    const [{ id: actionId }] = Object((await alice.get(endpoint.at('/actions'))).body).actions
    for (const members of [{ forwardUrl: '' }, { forwardingEnabled: false }]) {
      const refused = await alice.patch(endpoint.at(''), { ...members, answerFrom: { actionId } })
      expect(wrongParts(refused)).toEqual(['#/answerFrom/actionId not_allowed'])
    }
    expect((await alice.patch(endpoint.at(''), { answerFrom: { actionId } })).status).toBe(200)
    const off = await alice.patch(endpoint.at(''), { forwardingEnabled: false })
    expect((await alice.patch(endpoint.at(''), Object(off.body))).status).toBe(200)
  })

  test('secrets are write-only', async () => {
    const endpoint = await service.alice.endpoint({
      signingSecret: 'whsec_verysecret',
      signatureHeader: 'X-Sig',
    })
    const answer = await service.alice.patch(endpoint.at(''), { handshakeToken: 'hush-hush' })
    expect(answer.body).toMatchObject({
      verification: {
        secretSet: true,
        handshakeTokenSet: true,
        source: 'manual',
        manual: { header: 'X-Sig' },
      },
    })
    expect(answer.text).not.toMatch(/verysecret|hush-hush/)
  })
})

describe('DELETE /api/v1/endpoints/{endpointId}', () => {
  test('ends the endpoint at once: 204, then 404 for the API and for senders', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture()
    const gone = await service.alice.delete(endpoint.at(''))
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await service.alice.get(endpoint.at(''))).status).toBe(404)
    expect((await service.alice.get(endpoint.at(`/requests/${id}`))).status).toBe(404)
    expect((await service.alice.delete(endpoint.at(''))).status).toBe(404)
    expect((await endpoint.send()).status).toBe(404)
  })
})

describe('GET /api/v1/endpoints', () => {
  test('lists newest first, page by page, only what is of the workspace', async () => {
    const dana = await service.newClient()
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await dana.endpoint({ name })
    const page = async (query: string) => Object((await dana.get(`/api/v1/endpoints?${query}`)).body)
    const seen = [...(await page('pageSize=2&page=1')).items, ...(await page('pageSize=2&page=2')).items]
    expect(seen.map(({ name }) => name)).toEqual(['e', 'd', 'c', 'b'])
    expect(await page('pageSize=2&page=3')).toMatchObject({
      totalCount: 5,
      page: 3,
      pageSize: 2,
      totalPages: 3,
    })
  })
})
