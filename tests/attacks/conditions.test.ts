import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { PLANS } from '../../core/src/plans/index.ts'
import { eventually } from '../support/eventually.ts'
import { type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

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

const longBody = `[${'1,'.repeat(MIB / 2 - 2)}1]`

/** One capture as bytes. */
const capture = (path: string, body: string) =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\n${forwarded}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

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
})
