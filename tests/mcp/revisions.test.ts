import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startService, type TestService } from '../support/service.ts'

/** One URL for both revisions of the protocol, and for callers that may come from here only. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

afterAll(() => service.stop())

const MODERN = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

function send(message: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${service.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${service.alice.key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  })
}

const listTools = (params: object = {}) => ({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })

describe('the official client', () => {
  test.each([
    ['auto', '2026-07-28'],
    ['legacy', '2025-11-25'],
  ] as const)('in its mode %s speaks %s and calls tools', async (mode, revision) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp`), {
        requestInit: { headers: { Authorization: `Bearer ${service.alice.key}` } },
      }),
    )
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('search_requests')
    const endpoint = await service.alice.endpoint()
    const answer = await client.callTool({ name: 'list_endpoints', arguments: {} })
    expect(JSON.stringify(answer.content)).toContain(endpoint.id)
    await client.close()
  })
})

describe('a message', () => {
  test.each([
    ['of the old revision', {}, {}],
    ['of the new revision', MODERN, { _meta: ENVELOPE }],
  ])('%s is answered with JSON', async (_which, headers, params) => {
    const answer = await send(listTools(params), headers)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await answer.json()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
  })

  test('gets the codes of the new revision for what is wrong with it', async () => {
    const { 'Mcp-Method': _method, ...unnamed } = MODERN
    const missing = await send(listTools({ _meta: ENVELOPE }), unnamed)
    expect([missing.status, await missing.json()]).toMatchObject([400, { error: { code: -32020 } }])
    const unknown = { jsonrpc: '2.0', id: 1, method: 'events/nothing', params: { _meta: ENVELOPE } }
    const absent = await send(unknown, { ...MODERN, 'Mcp-Method': 'events/nothing' })
    expect([absent.status, await absent.json()]).toMatchObject([404, { error: { code: -32601 } }])
  })
})

describe('changes of lists', () => {
  test('are neither promised nor streamed', async () => {
    const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }
    const told = await send(discover, { ...MODERN, 'Mcp-Method': 'server/discover' })
    const unchanging = { listChanged: false }
    expect(await told.json()).toMatchObject({
      result: { capabilities: { tools: unchanging, resources: unchanging, prompts: unchanging } },
    })
    const params = { notifications: { toolsListChanged: true }, _meta: ENVELOPE }
    const listen = { jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params }
    const answer = await send(listen, { ...MODERN, 'Mcp-Method': 'subscriptions/listen' })
    expect([answer.status, await answer.json()]).toMatchObject([404, { id: 'l', error: { code: -32601 } }])
  })
})

describe('a caller', () => {
  test.each([
    ['Origin', { Origin: 'https://evil.example.com' }],
    ['Origin that is no URL', { Origin: 'null' }],
    ['Host', { Host: 'evil.example.com' }],
  ])('with a foreign %s is refused', async (_which, headers) => {
    expect((await send(listTools(), headers)).status).toBe(403)
  })

  test('of a page of this machine is served', async () => {
    expect((await send(listTools(), { Origin: 'http://localhost:6274' })).status).toBe(200)
  })
})
