import { beforeAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { z } from 'zod'
import { PROGRAM } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/**
 * The tools for agents, end to end through the client of the protocol's own SDK: over HTTP, and over a program's pipes.
 */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

/** A connected client of `/mcp`. */
async function overHttp({ key = service.alice.key, query = '' } = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp${query}`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  })
  // Its optional members are declared as undefined, which exact types distinguish from absent.
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

const Result = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })).length(1),
})

/** The answer of a tool, as text. */
async function textOf(client: Client, name: string, input: Record<string, unknown>): Promise<string> {
  const { isError, content } = Result.parse(await client.callTool({ name, arguments: input }))
  const text = content[0]?.text ?? ''
  if (isError === true) throw new Error(text)
  return text
}

const call = async (client: Client, name: string, input: Record<string, unknown>) =>
  z.looseObject({}).parse(JSON.parse(await textOf(client, name, input)))

const WRITING = [
  'create_endpoint',
  'script_answers',
  'reset_answers',
  'note_request',
  'save_rule',
  'arm_watchdog',
  'create_action',
  'replay_request',
  'send_sample',
]

describe('/mcp', () => {
  test('says which tools read, and which send', async () => {
    const client = await overHttp()
    const { tools } = await client.listTools()
    const reading = tools
      .filter(({ annotations }) => annotations?.readOnlyHint === true)
      .map(({ name }) => name)
    expect(reading).toContain('search_requests')
    expect(tools.map(({ name }) => name).filter((name) => !reading.includes(name))).toEqual(WRITING)
    expect(tools.find(({ name }) => name === 'replay_request')?.annotations).toMatchObject({
      destructiveHint: true,
      openWorldHint: true,
    })
    const readOnly = await overHttp({ query: '?readOnly=true' })
    expect((await readOnly.listTools()).tools.map(({ name }) => name)).toEqual(reading)
    const refused = readOnly.callTool({ name: 'replay_request', arguments: {} })
    await expect(refused).rejects.toThrow('-32602')
  })

  test('captures, awaits, transforms, replays and watches', async () => {
    await using receiver = await startReceiver()
    const client = await overHttp()
    const endpoint = z
      .looseObject({ id: z.string(), url: z.string() })
      .parse(await call(client, 'create_endpoint', { name: 'agent', ttlSeconds: 600 }))
    const endpointId = endpoint.id
    await service.alice.post(`/api/v1/endpoints/${endpointId}/actions`, {
      kind: 'forward',
      url: receiver.url,
      delivery: { timeoutSeconds: 30 },
      auth: { kind: 'basic', username: 'ada', password: 'correct horse' },
    })
    const actions = await textOf(client, 'list_actions', { endpointId })
    for (const part of ['"timeoutSeconds": 30', '"username": "ada"']) expect(actions).toContain(part)
    expect(actions).not.toContain('correct horse')
    const rule = { version: 1, name: 'Slim', steps: [{ op: 'keep', paths: ['body.id'] }] }
    const waiting = call(client, 'await_request', { endpointId, state: 'Succeeded' })
    await fetch(endpoint.url, { method: 'POST', body: '{"id":1,"card":"4242"}' })
    const { id: requestId } = z.looseObject({ id: z.int() }).parse(await waiting)

    expect(await textOf(client, 'search_requests', { endpointId, q: '4242' })).toContain(`"id": ${requestId}`)
    const preview = await call(client, 'preview_rule', { endpointId, requestId, rule })
    expect(preview).toMatchObject({ output: { body: '{"id":1}' } })
    await call(client, 'save_rule', { endpointId, rule })
    expect(await call(client, 'replay_request', { endpointId, requestId })).toMatchObject({
      state: 'Succeeded',
    })
    expect((await receiver.take(2)).at(-1)?.body.toString()).toBe('{"id":1}')
    const noted = await call(client, 'note_request', { endpointId, requestId, note: 'replayed by an agent' })
    expect(noted).toMatchObject({ id: requestId, note: 'replayed by an agent' })
    const Attempts = z.looseObject({ items: z.array(z.looseObject({ id: z.int(), trigger: z.string() })) })
    const { items } = Attempts.parse(await call(client, 'read_deliveries', { endpointId, requestId }))
    expect(items.map(({ trigger }) => trigger)).toEqual(['replay', 'capture'])
    const attempt = await call(client, 'read_delivery', { endpointId, attemptId: items[0]?.id })
    expect(attempt).toMatchObject({ sent: { body: '{"id":1}' } })
    expect(await call(client, 'suggest_watchdog', { endpointId })).toMatchObject({ available: false })
    const armed = await call(client, 'arm_watchdog', { endpointId, expectedIntervalSeconds: 3600 })
    expect(armed).toMatchObject({ active: true, endpointId })
    expect(await textOf(client, 'list_endpoints', {})).toContain(endpointId)
  })

  test('creates an action, which takes the next capture', async () => {
    const client = await overHttp()
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const url = `${receiver.url}/hooks`
    const input = { endpointId: endpoint.id, kind: 'forward', name: 'Billing', url, appendPath: true }
    expect(await call(client, 'create_action', input)).toMatchObject({ name: 'Billing', isActive: true })
    await endpoint.capture({ suffix: '/orders' })
    expect((await receiver.take(1))[0]).toMatchObject({ url: expect.stringContaining('/hooks/orders') })
    expect(await textOf(client, 'list_actions', { endpointId: endpoint.id })).toContain('Billing')
    const wrong = textOf(client, 'create_action', {
      endpointId: endpoint.id,
      kind: 'forward',
      url: 'nonsense',
    })
    expect(await wrong.catch(String)).toContain('#/url')
  })

  test('is told every wrong argument at once: missing, wrong and unknown ones', async () => {
    const client = await overHttp()
    const told = async (name: string, input: Record<string, unknown>) => {
      const text = await textOf(client, name, input).catch(String)
      expect(text).toContain('validation_failed')
      return [...text.matchAll(/^- #\/(\S+): /gm)].map(([, argument]) => argument)
    }
    const wrong = { name: 5, url: 7, urll: 'x' }
    expect(await told('create_action', wrong)).toEqual(['name', 'url', 'urll', 'endpointId', 'kind'])
    expect(await told('read_request', { maxBodyBytes: 'all' })).toEqual([
      'maxBodyBytes',
      'endpointId',
      'requestId',
    ])
    const { id: endpointId } = await service.alice.endpoint()
    expect(await told('replay_request', { endpointId, requestId: 1, actionID: 'x' })).toEqual(['actionID'])
  })

  test('scripts answers, previews them on a capture, and lets them answer anew', async () => {
    const client = await overHttp()
    const endpoint = await service.alice.endpoint()
    const endpointId = endpoint.id
    const responses = [{ status: 500, body: 'no {{ body.name }}', times: 1 }]
    await call(client, 'script_answers', { endpointId, responses })
    expect((await endpoint.send()).status).toBe(500)
    const { id: requestId } = await endpoint.capture({ body: '{"name":"Zoë"}' })
    expect(await call(client, 'preview_answer', { endpointId, requestId })).toMatchObject({
      index: 0,
      status: 500,
      body: 'no Zoë',
    })
    expect((await endpoint.send()).status).toBe(200)
    const reset = await call(client, 'reset_answers', { endpointId })
    expect(reset).toMatchObject({ responses: [{ used: 0 }] })
    expect((await endpoint.send()).status).toBe(500)
  })

  test('explains a verdict', async () => {
    const client = await overHttp()
    const endpoint = await service.alice.endpoint({ provider: 'github', signingSecret: 'webhook-secret' })
    const { id } = await endpoint.capture({ headers: { 'X-Hub-Signature-256': 'sha256=00' } })
    const why = await call(client, 'explain_verdict', { endpointId: endpoint.id, requestId: id })
    expect(why).toMatchObject({
      verification: { verdict: 'failed' },
      settings: { secretSet: true },
      providerEntry: { slug: 'github' },
    })
    expect(JSON.stringify(why)).not.toContain('webhook-secret')
  })

  test('sends a sample that the endpoint takes for real', async () => {
    const client = await overHttp()
    const { id: endpointId } = await service.alice.endpoint({ provider: 'stripe', signingSecret: 'whsec_1' })
    expect(await textOf(client, 'list_samples', {})).toContain('invoice.paid')
    const sent = await call(client, 'send_sample', {
      endpointId,
      provider: 'stripe',
      event: 'invoice.paid',
      set: { 'body.data.object.amount_paid': 5 },
    })
    const why = await call(client, 'explain_verdict', { endpointId, requestId: sent.requestId })
    expect(why).toMatchObject({ verification: { verdict: 'verified' } })
    const wrong = textOf(client, 'send_sample', { endpointId, provider: 'strype' })
    expect(await wrong.catch(String)).toContain('stripe')
  })

  test('tells a long body in parts', async () => {
    const client = await overHttp()
    const endpoint = await service.alice.endpoint()
    const body = JSON.stringify({ text: 'ü'.repeat(1000), last: true })
    const { id: requestId } = await endpoint.capture({ body })
    const Part = z.looseObject({ body: z.string(), nextBodyOffset: z.int().nullable() })
    let whole = Buffer.alloc(0)
    for (let bodyOffset: number | null = 0; bodyOffset !== null; ) {
      const input = { endpointId: endpoint.id, requestId, bodyOffset, maxBodyBytes: 500 }
      const part: z.output<typeof Part> = Part.parse(await call(client, 'read_request', input))
      whole = Buffer.concat([whole, Buffer.from(part.body.replaceAll('\ufffd', ''))])
      bodyOffset = part.nextBodyOffset
    }
    expect(await call(client, 'await_request', { endpointId: endpoint.id })).toMatchObject({
      bodyBytes: Buffer.byteLength(body),
      nextBodyOffset: null,
    })
    expect(whole.length).toBeGreaterThan(body.length)
    expect(whole.toString()).toContain('"last":true')
  })

  test('masks what is called like a credential, in headers, bodies and queries', async () => {
    const client = await overHttp()
    const endpoint = await service.alice.endpoint()
    const { id: requestId } = await endpoint.capture({
      headers: { Authorization: 'Bearer opens-doors', 'X-Shown': 'shown' },
      suffix: '/a?api_key=opens-doors&page=2',
      body: '{"user":"ada","client_secret":"opens-doors","nested":{"accessToken":"opens-doors"},"tokens":["opens-doors",{"a":"]opens-doors"}],"amount":1.50}',
    })
    const text = await textOf(client, 'read_request', { endpointId: endpoint.id, requestId })
    expect(text).not.toContain('opens-doors')
    expect(text).toContain('shown')
    expect(text).toContain('page=2')
    expect(z.looseObject({ body: z.string() }).parse(JSON.parse(text)).body).toBe(
      '{"user":"ada","client_secret":"***","nested":{"accessToken":"***"},"tokens":"***","amount":1.50}',
    )
    await service.alice.patch(endpoint.at(''), { columns: ['body.client_secret', 'body.nested.accessToken'] })
    const form = await endpoint.capture({ body: 'user%5Bpassword%5D=opens-doors&user%5Bname%5D=ada' })
    const formText = await textOf(client, 'read_request', { endpointId: endpoint.id, requestId: form.id })
    expect(formText).toContain('user%5Bpassword%5D=***&user%5Bname%5D=ada')
    for (const tool of ['search_requests', 'await_request']) {
      expect(await textOf(client, tool, { endpointId: endpoint.id })).not.toContain('opens-doors')
    }
    const uri = `creel://endpoints/${endpoint.id}/requests/${requestId}`
    expect((await client.listResources()).resources.map((resource) => resource.uri)).toContain(uri)
    const resource = JSON.stringify(await client.readResource({ uri }))
    expect(resource).toContain('ada')
    expect(resource).not.toContain('opens-doors')
  })

  test('masks these values also where a preview repeats them', async () => {
    const client = await overHttp()
    const endpoint = await service.alice.endpoint()
    const { id: requestId } = await endpoint.capture({
      headers: { Authorization: 'Bearer opens-doors', Cookie: 'sid=opens-"gates"' },
      suffix: '/a?api_key=opens%20windows',
      body: '{"user":"ada-lovelace","client_secret":"opens-drawers","tokens":[{"a":"opens-chests"}],"pin":7}',
    })
    const args = ['headers.Authorization', 'headers.Cookie', 'query.api_key', 'body.client_secret']
    const quoted = [...args, 'body.tokens[0].a', 'body.user']
    const compute = { op: 'compute', path: 'body.x', fn: 'concat', args: quoted }
    const rule = { version: 1, name: 'Quotes', steps: [compute] }
    const shown = z.looseObject({ output: z.looseObject({ body: z.string() }) })
    const previewed = await call(client, 'preview_rule', { endpointId: endpoint.id, requestId, rule })
    const { body } = shown.parse(previewed).output
    expect(JSON.parse(body)).toMatchObject({
      user: 'ada-lovelace',
      pin: 7,
      x: expect.stringContaining('ada'),
    })
    expect(JSON.stringify(previewed)).not.toContain('opens')
    const responses = [{ body: `${quoted.map((path) => `{{ ${path} }}`).join(' ')} shown` }]
    const answer = await call(client, 'preview_answer', { endpointId: endpoint.id, requestId, responses })
    expect(answer.body).toMatch(/^\*\*\*.* ada-lovelace shown$/)
    expect(JSON.stringify(answer)).not.toContain('opens')
    const { body: key } = await service.alice.post('/api/v1/keys', {
      name: 'one',
      scope: 'read',
      endpointId: endpoint.id,
    })
    const narrow = await overHttp({ key: String(Object(key).key) })
    expect(await textOf(narrow, 'preview_rule', { requestId, rule })).not.toContain('opens')
  })

  test('tells an unknown capture as the protocol wants: the uri, and not an internal error', async () => {
    const endpoint = await service.alice.endpoint()
    const client = await overHttp()
    for (const path of [`${endpoint.id}/requests/999999`, `${endpoint.id}/requests/x`, 'x/requests/1']) {
      const uri = `creel://endpoints/${path}`
      const refusal: unknown = await client.readResource({ uri }).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: -32602, data: { uri } })
      expect(String(refusal)).toContain('not_found: No such')
    }
  })

  test('has a prompt that leads to the cause', async () => {
    const client = await overHttp()
    const prompt = { name: 'debug_webhook', arguments: { endpointId: 'e', requestId: '7' } }
    const { messages } = await client.getPrompt(prompt)
    expect(JSON.stringify(messages)).toContain('the request 7 of the endpoint e')
  })

  test('tells the model what the API refused, and sees nothing of another workspace', async () => {
    const client = await overHttp()
    const foreign = await service.charlie.endpoint()
    const refusal = textOf(client, 'search_requests', { endpointId: foreign.id })
    expect(await refusal.catch(String)).toContain('not_found')
    const rule = { version: 1, name: 'x', steps: [{ op: 'map' }] }
    const own = await service.alice.endpoint()
    const { id: requestId } = await own.capture()
    const wrong = textOf(client, 'preview_rule', { endpointId: own.id, requestId, rule })
    expect(await wrong.catch(String)).toContain('#/rule/steps/0/op')
    const many = await textOf(client, 'search_requests', { endpointId: own.id, limit: 1000 }).catch(String)
    expect(many).toContain(
      'validation_failed: limit must be at most 100.\n- limit: limit must be at most 100.',
    )
  })

  test('bounds what one request may hold, and has no stream of its own', async () => {
    const send = (body: string, method = 'POST') =>
      fetch(`${service.baseUrl}/mcp`, {
        method,
        headers: {
          Authorization: `Bearer ${service.alice.key}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        ...(method === 'POST' ? { body } : {}),
      })
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const invalid = (words: string) => ({ jsonrpc: '2.0', id: null, error: { code: -32600, message: words } })
    const many = await send(JSON.stringify(Array.from({ length: 21 }, () => message)))
    expect([many.status, await many.json()]).toEqual([400, invalid('A request holds at most 20 messages.')])
    const deep = await send('['.repeat(100_000))
    expect([deep.status, await deep.json()]).toEqual([400, invalid('The JSON nests deeper than 512 levels.')])
    expect((await send('no json')).status).toBe(400)
    for (const method of ['GET', 'DELETE']) {
      const answer = await send('', method)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    }
    // This call is the last one, since it is refused unread and ends its connection.
    const long = await send(JSON.stringify({ ...message, params: { cursor: 'x'.repeat(1_100_000) } }))
    expect([long.status, await long.json()]).toEqual([400, invalid('The body is over 1 MiB.')])
  })

  test('takes a key, and the budget of the key', async () => {
    const stranger = await fetch(`${service.baseUrl}/mcp`, { method: 'POST', body: '{}' })
    expect(stranger.status).toBe(401)
    expect(stranger.headers.get('www-authenticate')).toStartWith('Bearer')
    await expect(overHttp({ key: service.bob.key })).rejects.toThrow()
    const limited = await startService({ limits: { apiRatePerMinute: 1 } })
    const post = () =>
      fetch(`${limited.baseUrl}/mcp`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${limited.alice.key}`, 'Content-Type': 'application/json' },
        body: '{}',
      })
    expect((await post()).status).not.toBe(429)
    expect((await post()).status).toBe(429)
    await limited.stop()
  })
})

test('`creel mcp` serves the same tools over its pipes, read only when told', async () => {
  const client = new Client({ name: 'test', version: '1' })
  const [command = '', ...rest] = PROGRAM
  const transport = new StdioClientTransport({
    command,
    args: [...rest, 'mcp', '--read-only'],
    env: { PATH: process.env.PATH ?? '', CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key },
  })
  await client.connect(transport)
  const { tools } = await client.listTools()
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
  const endpoint = await service.alice.endpoint({ name: 'over pipes' })
  expect(await textOf(client, 'list_endpoints', {})).toContain(endpoint.id)
  await client.close()
})
