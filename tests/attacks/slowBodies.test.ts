import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type AttackedService, capturedAt, startAttackedService } from './attackedService.ts'

/** Bodies that are built to take long to read. */

/** Limit for the processor time of one turn of the service's event loop. */
const BUSY_MS = 250
/** The same for a form of 10 MB, ten times as long as other bodies here. */
const LONG_FORM_BUSY_MS = 500

let service: AttackedService
let endpointId: string

beforeAll(async () => {
  service = await startAttackedService()
  const made = await service.call('POST', '/api/v1/endpoints', {})
  endpointId = z.looseObject({ id: z.string() }).parse(await made.json()).id
  const condition = { path: 'body.type', op: 'eq', value: 'none' }
  const forward = { kind: 'forward', url: 'https://example.com/', condition }
  const added = await service.call('POST', `/api/v1/endpoints/${endpointId}/actions`, forward)
  expect(added.status).toBe(201)
})

afterAll(() => service.stop())

/** Names so far: each is new to the service. */
let named = 1_000_000
/** A list of objects, each with a name of its own. */
const differentNames = (count: number) => {
  const items = Array.from({ length: count }, () => {
    named += 1
    return `{"${named.toString(36)}x":1}`
  })
  return `[${items.join(',')}]`
}

/** An object with this many members. */
const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`

const capture = async (body: string) => {
  const url = `${service.creel.captureUrl}/hook/${endpointId}`
  const answer = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
  expect(answer.status).toBe(200)
}

const RULE = { version: 1, name: 'Rule', steps: [{ op: 'set', path: 'body.more', value: 'x' }] }

/** Tries a rule on a request; the text of the answer. */
async function preview(input: string, status: number): Promise<string> {
  const path = `/api/v1/endpoints/${endpointId}/transformations/preview-set`
  const answer = await fetch(service.creel.baseUrl + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.attackersKey}`, 'Content-Type': 'application/json' },
    body: `{"rules":[${JSON.stringify(RULE)}],${input}}`,
  })
  expect(answer.status).toBe(status)
  return await answer.text()
}

describe('an innocent bystander notices nothing of', () => {
  test.each([
    ['70,000 different names', () => differentNames(70_000)],
    ['long numbers', () => `[1234567890123456789${',1'.repeat(500_000)}]`],
    ['different names and long numbers', () => `[1234567890123456789,${differentNames(65_000)}]`],
  ])('a condition on a body of %s', (_, body) =>
    service.attackedBy(async () => {
      await capture(body())
      await service.rounds(2)
    }, BUSY_MS),
  )

  test.each([
    ['blanks', 'a='.padEnd(10_000_000, '+')],
    ['escapes', 'a='.padEnd(10_000_000, 'a%20')],
  ])('a rule on a form of %s', async (_, form) => {
    const { requestId } = await capturedAt(
      new URL(`${service.creel.captureUrl}/hook/${endpointId}`),
      service.attackersKey,
      new Blob([form], { type: 'application/x-www-form-urlencoded' }),
    )
    await service.attackedBy(async () => {
      expect(await preview(`"requestId":${requestId}`, 200)).toContain('"faulted":false')
      await service.rounds(2)
    }, LONG_FORM_BUSY_MS)
  })

  test('a sample of different names for a preview', () =>
    service.attackedBy(async () => {
      expect(await preview(`"sample":{"body":${differentNames(70_000)}}`, 400)).toContain('different names')
      // As text, a sample is read like a captured body.
      const text = JSON.stringify(`{"list":${differentNames(50_000)}}`)
      expect(await preview(`"sample":{"body":${text}}`, 200)).toContain('"faulted":false')
      await service.rounds(2)
    }, BUSY_MS))

  test.each([
    ['a long name with thousands of members', 1, `{"${'n'.repeat(500_000)}":${members(30_000)}}`],
    ['members without end', 8, members(80_000)],
  ])('the shape of %s', async (_, count, body) => {
    for (let sent = 0; sent < count; sent += 1) await capture(body)
    await service.attackedBy(async () => {
      const answer = await service.call('GET', `/api/v1/endpoints/${endpointId}/shape?last=${count}`)
      expect(await answer.json()).toMatchObject({ sampleCount: count })
      await service.rounds(2)
    }, BUSY_MS)
  })

  test('a tool call with many values', () =>
    service.attackedBy(async () => {
      const rule = `[${'1,'.repeat(300_000)}1]`
      const call = { name: 'save_rule', arguments: { endpointId, rule: [] } }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
      const answer = await fetch(`${service.creel.baseUrl}/mcp`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${service.attackersKey}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(message).replace('"rule":[]', `"rule":${rule}`),
      })
      expect(await answer.text()).toContain('at most 20000 values')
      await service.rounds(2)
    }, BUSY_MS))
})
