import { beforeAll, expect, test } from 'bun:test'
import { pino } from 'pino'
import { z } from 'zod'
import { textOf } from '../docs/markdown.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

const Line = z.looseObject({ msg: z.string(), level: z.number() })
const lines: z.output<typeof Line>[] = []
const [INFO, DEBUG] = [30, 20]

let service: TestService

beforeAll(async () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(Line.parse(JSON.parse(line))) })
  service = await startService({ log })
})

test('every answer carries an id of its own, under which the log has its line', async () => {
  const endpoint = await service.alice.endpoint()
  const answers = [
    await endpoint.send({ body: 'private' }),
    await endpoint.send(),
    await fetch(`${service.captureUrl}/hook/nobody`, { method: 'POST' }),
    await fetch(`${service.baseUrl}/api/v1/me`, {
      headers: { Authorization: `Bearer ${service.alice.key}` },
    }),
    await fetch(`${service.baseUrl}/nothing`),
    await fetch(`${service.baseUrl}/healthz`),
  ]
  const ids = answers.map(({ headers }) => headers.get('creel-trace-id') ?? '')
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(ids).size).toBe(ids.length)
  const lineOf = (id: string | undefined) => lines.find(({ traceId }) => traceId === id)
  expect(lineOf(ids[0])).toMatchObject({
    level: DEBUG,
    msg: 'capture',
    endpointId: endpoint.id,
    outcome: 'stored',
    sizeBytes: 7,
    dispatch: 'NotAttempted',
  })
  expect(lineOf(ids[2])).toMatchObject({ msg: 'capture', outcome: 'gone' })
  expect(lineOf(ids[3])).toMatchObject({ level: INFO, msg: 'request', route: 'me.get', status: 200 })
  expect(JSON.stringify(lines)).not.toContain('private')
})

test("a caller's trace is kept", async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
  const answer = await fetch(`${service.baseUrl}/api/v1/me`, { headers })
  expect(answer.headers.get('creel-trace-id')).toBe(traceId)
})

test('a failed delivery is one line, with ids and outcome', async () => {
  const endpoint = await service.alice.endpoint({ forwardUrl: 'http://127.0.0.1:1/' })
  await endpoint.send({ body: '{}' })
  const failed = () =>
    lines.filter(({ msg, endpointId }) => msg === 'delivery failed' && endpointId === endpoint.id)
  await eventually('the line', async () => failed().length > 0)
  const [request] = await endpoint.requests()
  expect(failed()).toEqual([
    expect.objectContaining({
      level: INFO,
      requestId: request?.id,
      attempt: 1,
      durationMs: expect.any(Number),
      error: expect.any(String),
      nextAttemptAt: expect.any(String),
    }),
  ])
})

test('every metric of Creel that is served is on the page of operations', async () => {
  const served = await (await fetch(`${service.baseUrl}/metrics`)).text()
  const names = [...served.matchAll(/^# TYPE (creel_\S+)/gm)].map((match) => match[1] ?? '')
  const page = textOf('docs/operations.md')
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
