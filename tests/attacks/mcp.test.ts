import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { ATTACKER, type AttackedService, capturedAt, startAttackedService } from './attackedService.ts'

/** Reads through `/mcp` of bodies from an unknown sender, which are masked before a model sees them. */

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

const BODY_BYTES = 20_000_000
const READS = 8

const repeated = (text: string) => text.repeat(Math.floor(BODY_BYTES / text.length))

/** Captures a body without a key. */
const captured = (body: string) =>
  capturedAt(new URL(service.attackedPath, service.creel.baseUrl), service.attackersKey, body)

const Answer = z.looseObject({
  result: z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) }),
})

async function call(name: string, input: object): Promise<string> {
  const answer = await fetch(`${service.creel.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${service.attackersKey}`,
      'X-Forwarded-For': ATTACKER,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input },
    }),
  })
  return Answer.parse(await answer.json()).result.content[0]?.text ?? ''
}

describe('an innocent bystander notices nothing of', () => {
  test.each([
    ['quotation marks that are escaped', () => `"${repeated('\\"')}`],
    ['names of credentials', () => `{${repeated('"token":1,')}`],
  ])('reads of a body of %s', async (_what, body) => {
    const { endpointId, requestId } = await captured(body())
    await service.attackedBy(async () => {
      const texts = await Promise.all(
        Array.from({ length: READS }, () => call('read_request', { endpointId, requestId })),
      )
      for (const text of texts) expect(text).toContain('"bodyOffset": 0')
    })
  })

  test('a read of the last part of a long body, which depends on all that comes before it', async () => {
    const { endpointId, requestId } = await captured(`{${repeated('"token":1,')}"end":true}`)
    await service.attackedBy(async () => {
      const input = { endpointId, requestId, bodyOffset: BODY_BYTES - 20 }
      const text = await call('read_request', input)
      expect(text).toContain('\\"end\\":true}')
    })
  })
})
