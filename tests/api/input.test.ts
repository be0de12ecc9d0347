import { beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../support/client.ts'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, type World } from '../support/world.ts'

/** Path, query and body become one input. The tests check this, and the names of its wrong parts. */

let service: TestService
let mine: World
let other: World

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  mine = await makeWorld(service.alice)
  other = await makeWorld(service.charlie)
})

const at = (path: string) => `/api/v1/endpoints/${mine.ids.endpointId}${path}`

describe('path, query and body are one input', () => {
  test('of which the path wins: a body cannot name another object', async () => {
    const { endpointId } = other.ids
    const answer = await service.alice.patch(at(''), { endpointId, id: endpointId, name: 'mine' })
    expect(answer).toMatchObject({ status: 200, body: { id: mine.ids.endpointId, name: 'mine' } })
    const untouched = await service.charlie.get(`/api/v1/endpoints/${endpointId}`)
    expect(untouched.body).toMatchObject({ name: 'world' })
  })

  test('a query cannot name another object either', async () => {
    const answer = await service.alice.get(`${at('/stats')}?endpointId=${other.ids.endpointId}`)
    expect(answer).toMatchObject({ status: 200, body: { endpointId: mine.ids.endpointId } })
  })

  test('members of the body are not read from the query', async () => {
    const answer = await service.alice.patch(`${at('')}?name=fromQuery`, { isActive: true })
    expect(answer.body).toMatchObject({ name: 'mine' })
  })

  test('a member of the query is read from there, also beside a body', async () => {
    const path = at(`/requests/${mine.ids.requestId}/replay?actionId=${other.ids.actionId}`)
    expect((await service.alice.post(path, { actionId: mine.ids.actionId })).status).toBe(404)
  })
})

describe('a wrong part is named by where it came from', () => {
  test('the query by its parameter, the body by a pointer from its root', async () => {
    expect(wrongParts(await service.alice.get(at('/requests?page=x')))).toEqual(['?page type'])
    expect(wrongParts(await service.alice.patch(at(''), { name: 7 }))).toEqual(['#/name type'])
    const deep = { version: 1, name: 'r', steps: [{ op: 'remove', paths: ['body.x'] }, { op: 'map' }] }
    expect(wrongParts(await service.alice.post(at('/transformations'), deep))).toEqual([
      '#/steps/1/op unknown_op',
    ])
    const put = service.alice.put(at(`/transformations/${mine.ids.ruleId}`), { rule: deep })
    expect(wrongParts(await put)).toEqual(['#/rule/steps/1/op unknown_op'])
  })

  test('a member of the query by a pointer, when only the body has it', async () => {
    const replay = at(`/requests/${mine.ids.requestId}/replay`)
    expect(wrongParts(await service.alice.post(replay, { actionId: 'nope' }))).toEqual([
      '#/actionId bad_format',
    ])
    const both = service.alice.post(`${replay}?actionId=nope`, { actionId: mine.ids.actionId })
    expect(wrongParts(await both)).toEqual(['?actionId bad_format'])
  })

  test('a pointer escapes what JSON Pointer and URIs would misread', async () => {
    const responseHeaders = { 'a/b~c d%': '1' }
    const answer = await service.alice.post('/api/v1/endpoints', { responseHeaders })
    expect(wrongParts(answer)).toEqual(['#/responseHeaders/a~1b~0c%20d%25 bad_format'])
    const halfPair = await service.alice.post('/api/v1/endpoints', { responseHeaders: { '\ud83d': '1' } })
    expect(wrongParts(halfPair)).toEqual(['#/responseHeaders/%EF%BF%BD bad_format'])
  })

  test('a name that would be dropped is refused where it stands', async () => {
    const named = JSON.parse('{"X-Fine":"1","__proto__":"2"}')
    const { id } = (await service.alice.post('/api/v1/endpoints', {})).body as { id: string }
    const refusals = [
      [await service.alice.post('/api/v1/endpoints', { responseHeaders: named }), '#/responseHeaders'],
      [
        await service.alice.patch(`/api/v1/endpoints/${id}`, { responses: [{ headers: named }] }),
        '#/responses/0/headers',
      ],
    ] as const
    for (const [answer, at] of refusals) expect(wrongParts(answer)).toEqual([`${at}/__proto__ not_allowed`])
  })

  test('in a detail that names the part, whatever was wrong with it', async () => {
    const detailOf = async (call: Promise<Answer>) => Object((await call).body).detail
    const { alice } = service
    expect(await detailOf(alice.get(at('/requests?since=yesterday')))).toStartWith('since: ')
    expect(await detailOf(alice.post('/api/v1/endpoints', { forwardUrl: 'ftp://x' }))).toStartWith(
      'forwardUrl: ',
    )
    expect(await detailOf(alice.get('/api/v1/traffic?to=yesterday'))).toStartWith('to: ')
    const match = { path: 'nowhere', op: 'exists' }
    const watchdog = { endpointId: mine.ids.endpointId, expectedIntervalSeconds: 60, match }
    expect(await detailOf(alice.post('/api/v1/watchdogs', watchdog))).toStartWith('match.path: ')
    const condition = { all: [{ path: 'body.x', op: 'is' }] }
    expect(
      await detailOf(alice.post(at('/actions'), { kind: 'forward', url: 'https://example.com/', condition })),
    ).toStartWith('The input has 2 errors; first: condition.all[0].op: ')
    expect(await detailOf(alice.post('/api/v1/endpoints', { name: '' }))).toStartWith('name must be')
  })

  test.each([
    [
      '/api/v1/subscriptions',
      {
        name: 'world.any',
        arguments: { fields: [5, 'nowhere.x'], where: [7, { path: 'nowhere', op: 'is' }, 'x'] },
        delivery: { url: 'https://10.0.0.1/', secret: 'short' },
      },
      [
        '#/arguments/fields/0 type',
        '#/arguments/fields/1 bad_path',
        '#/arguments/where/0 type',
        '#/arguments/where/1/path bad_path',
        '#/arguments/where/1/op unknown_value',
        '#/arguments/where/2 type',
        '#/delivery/url not_allowed',
        '#/delivery/secret bad_format',
        '#/delivery/mode required',
      ],
    ],
    [
      '/actions',
      {
        kind: 'forward',
        url: 'https://example.com/',
        auth: { tokenUrl: 'https://10.0.0.1/token', username: 'a:b' },
        delivery: { rate: { count: 'many' }, retry: { delays: [5], on: ['all', 410] } },
      },
      [
        '#/auth/tokenUrl not_allowed',
        '#/auth/username bad_format',
        '#/auth/kind required',
        '#/delivery/rate/count type',
        '#/delivery/rate/perSeconds required',
        '#/delivery/retry/delays/0 type',
        '#/delivery/retry/on/0 type',
        '#/delivery/retry/on/1 not_allowed',
      ],
    ],
    [
      '/actions',
      { kind: 'forward', url: 'http://example.com/', tls: { clientKey: 'key', certificateAuthority: 'ca' } },
      ['#/tls not_allowed', '#/tls/certificateAuthority bad_format', '#/tls/clientCertificate required'],
    ],
    [
      '/api/v1/transformations/preview',
      {
        rule: { version: 1, steps: [] },
        requestId: 'x',
        sample: { headers: { 'not a name': '1' }, body: 5 },
      },
      [
        '#/rule/steps too_short',
        '#/rule/name required',
        '#/requestId type',
        '#/sample/headers/not%20a%20name bad_format',
      ],
    ],
    [
      '/replays',
      {
        select: { requestIds: 'all' },
        to: { url: 'https://10.0.0.1/', appendPath: 'yes' },
        pace: { speed: 'fast' },
        compare: { ignore: ['nowhere.x'] },
      },
      [
        '#/select/requestIds type',
        '#/to/url not_allowed',
        '#/to/appendPath type',
        '#/pace/speed type',
        '#/compare/ignore/0 not_allowed',
        '#/compare/with required',
      ],
    ],
    [
      '/api/v1/endpoints',
      {
        responses: [{ status: 'ok', when: { path: 'nowhere', op: 'exists' } }],
        answerFrom: { fallback: { status: 301 } },
      },
      [
        '#/responses/0/status type',
        '#/responses/0/when/path bad_path',
        '#/answerFrom/fallback/status out_of_range',
        '#/answerFrom/actionId required',
      ],
    ],
  ])('of %s beside every other, also where what chooses its form is missing', async (path, body, parts) => {
    const answer = await service.alice.post(path.startsWith('/api') ? path : at(path), body)
    expect(wrongParts(answer)).toEqual(parts)
  })

  test('at most 50 of them, and how many there are', async () => {
    const names = Array.from({ length: 60 }, (_, index) => [`bad name ${index}`, '1'])
    const answer = await service.alice.post('/api/v1/endpoints', {
      responseHeaders: Object.fromEntries(names.slice(0, 20)),
      name: '',
      signaturePrefix: 'x'.repeat(33),
    })
    expect(wrongParts(answer)).toHaveLength(22)
    expect(Object(answer.body).detail).toStartWith('The input has 22 errors')
    const order = Array.from({ length: 80 }, (_, index) => index)
    expect(wrongParts(await service.alice.put(at('/transformations/order'), { order }))).toHaveLength(50)
  })
})
