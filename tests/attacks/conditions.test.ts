import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { PLANS } from '../../core/src/plans/index.ts'
import { eventually } from '../support/eventually.ts'
import { type AttackedService, capturedAt, forwarded, startAttackedService } from './attackedService.ts'

const MIB = 1_048_576
const { actionsMax, watchdogsMax } = PLANS.team.limits

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

/** Calls the API as the attacker. */
async function post(path: string, body: unknown): Promise<string> {
  const answer = await service.call('POST', `/api/v1${path}`, body)
  expect(answer.status).toBeLessThan(300)
  return z.looseObject({ id: z.string() }).parse(await answer.json()).id
}

/** A condition with the most comparisons of every element of a list, or of every parameter. It never holds. */
const longCondition = (salt: number) => {
  const leaf = (index: number) => ({
    path: index % 2 === 0 ? 'body[*]' : 'query.missing',
    op: 'gt',
    value: 1_000_000 + salt * 100 + index,
  })
  const group = (from: number, to: number) => ({
    any: Array.from({ length: to - from }, (_, index) => leaf(from + index)),
  })
  return { any: [group(0, 20), group(20, 40), group(40, 50)] }
}

/** Elements of a list, each of which is compared with every value of a condition. */
const ELEMENTS = 5_000
/** Elements of a list in which no path finds anything. */
const LONG_LIST = 150_000
/** Limit for the processor time of one turn of the service's event loop. */
const BUSY_MS = 250

/** A condition that looks for a hundred objects, which no text or number finds at once. It never holds. */
const oneOfObjects = (salt: number) => ({
  path: 'body[*]',
  op: 'in',
  value: Array.from({ length: 100 }, (_, index) => ({ a: salt * 100 + index })),
})

const longBody = `[${'1,'.repeat(MIB / 2 - 2)}1]`

/** One capture as bytes. */
const capture = (path: string, body: string) =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\n${forwarded}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

const Requests = z.looseObject({ items: z.tuple([z.looseObject({ id: z.int() })]) })

/** The head of the first answer on a connection. */
const answerOn = (socket: Socket) =>
  new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end >= 0) resolve(text.slice(0, end))
    })
  })

describe('an innocent bystander notices nothing of', () => {
  test('a few conditions over long bodies, which all are answered when their turn comes', async () => {
    const endpointId = await post('/endpoints', {})
    for (let index = 0; index < 3; index += 1) {
      const condition = { path: 'body[*]', op: 'gt', value: 1_000_000 + index }
      await post(`/endpoints/${endpointId}/actions`, {
        kind: 'forward',
        url: 'https://example.com/',
        condition,
      })
    }
    await service.attackedBy(async () => {
      const sockets = service.many(10, capture(`/hook/${endpointId}`, longBody))
      const answers = await Promise.all(sockets.map(answerOn))
      for (const answer of answers) expect(answer).toStartWith('HTTP/1.1 200 ')
    })
  })

  test('a preview of rules for storing that change each parameter of a long query, over and over', async () => {
    const endpointId = await post('/endpoints', {})
    const steps = Array.from({ length: 50 }, (_, n) => ({ op: 'redact', paths: ['query.a'], with: `${n}` }))
    const storeRules = Array.from({ length: 10 }, () => ({ steps }))
    const [socket] = service.many(1, capture(`/hook/${endpointId}?${'a&'.repeat(70_000)}`, '[1]'))
    if (socket !== undefined) expect(await answerOn(socket)).toStartWith('HTTP/1.1 200 ')
    const page = await service.call('GET', `/api/v1/endpoints/${endpointId}/requests`)
    const requestId = Requests.parse(await page.json()).items[0].id
    await service.attackedBy(async () => {
      const path = `/api/v1/endpoints/${endpointId}/store-rules/preview`
      const answer = await service.call('POST', path, { storeRules, requestId })
      expect(await answer.json()).toMatchObject({
        redactionFault: expect.stringMatching(/^rule \d+ faulted at step \d+: too_slow$/),
      })
    })
  })

  test('as many conditions as the plan allows over a flood of bodies of 1 MiB', async () => {
    const endpointId = await post('/endpoints', {})
    for (let index = 0; index < actionsMax; index += 1) {
      const condition = longCondition(index)
      await post(`/endpoints/${endpointId}/actions`, {
        kind: 'forward',
        url: 'https://example.com/',
        condition,
      })
    }
    for (let index = 0; index < watchdogsMax; index += 1) {
      const match = longCondition(1000 + index)
      await post('/watchdogs', { endpointId, expectedIntervalSeconds: 3600, match })
    }
    const path = `/hook/${endpointId}`
    await service.attackedBy(async () => {
      const sockets = [
        ...service.many(40, capture(path, longBody)),
        ...service.many(40, capture(`${path}?${'a&'.repeat(70_000)}`, '[1]')),
      ]
      // The line is bounded: the captures beyond it are refused at once.
      const refused = await Promise.race(sockets.map(answerOn))
      expect(refused).toStartWith('HTTP/1.1 503 ')
      expect(refused).toMatch(/\r\nRetry-After: [1-9]/i)
      await service.rounds(15)
    })
    // The senders are gone, and their captures with them.
    await eventually('a capture after the flood', async () => {
      const answer = await fetch(`${service.creel.captureUrl}${path}`, { method: 'POST', body: '[1]' })
      return answer.status === 200
    })
  })

  test('replays whose conditions compare each element with a thousand values', async () => {
    const endpointId = await post('/endpoints', {})
    const { requestId } = await capturedAt(
      new URL(`${service.creel.captureUrl}/hook/${endpointId}`),
      service.attackersKey,
      `[${'{},'.repeat(ELEMENTS - 1)}{}]`,
    )
    // Added last: the capture is not evaluated.
    await post(`/endpoints/${endpointId}/actions`, {
      kind: 'forward',
      url: 'https://example.com/',
      condition: { any: Array.from({ length: 15 }, (_, index) => oneOfObjects(index)) },
    })
    await service.attackedBy(async () => {
      const requests = `/api/v1/endpoints/${endpointId}/requests`
      const replayed = await service.call('POST', `${requests}/${requestId}/replay`, {})
      expect(await replayed.json()).toMatchObject({ state: 'Skipped' })
      const queued = await service.call('POST', `${requests}/bulk-replay`, { requestIds: [requestId] })
      expect(await queued.json()).toMatchObject({ queuedCount: 0, skippedCount: 1 })
      await service.rounds(2)
    }, BUSY_MS)
  })

  test('a preview of a condition whose paths all lead nowhere, on a long list', async () => {
    const endpointId = await post('/endpoints', {})
    const body = `[${'{},'.repeat(LONG_LIST - 1)}{}]`
    await capturedAt(new URL(`${service.creel.captureUrl}/hook/${endpointId}`), service.attackersKey, body)
    const group = (from: number, to: number) => ({
      all: Array.from({ length: to - from }, (_, index) => ({
        path: `body[*].name${from + index}`,
        op: 'eq',
        value: 1,
      })),
    })
    const condition = { all: [group(0, 20), group(20, 40), group(40, 50)] }
    await service.attackedBy(async () => {
      const path = `/api/v1/endpoints/${endpointId}/conditions/preview`
      const answer = await service.call('POST', path, { condition })
      expect(await answer.json()).toMatchObject({
        testedCount: 1,
        note: expect.stringContaining('matched nothing: body[*].name0, body[*].name1, '),
      })
      await service.rounds(2)
    }, BUSY_MS)
  })
})
