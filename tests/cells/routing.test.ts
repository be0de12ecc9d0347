import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AppRouter } from '@creel/core'
import { createTRPCClient, httpLink } from '@trpc/client'
import { z } from 'zod'
import { browserOf } from '../oauth/agent.ts'
import { TestBrowser } from '../support/browser.ts'
import { type CellsProgram, startCells, type TestCell, threeDatabases } from '../support/cells.ts'
import { Client, type TestEndpoint } from '../support/client.ts'
import { openEvents } from '../support/eventReader.ts'
import { eventually } from '../support/eventually.ts'
import { runCreel } from '../support/process.ts'
import { administer } from '../support/templateDatabase.ts'

/** One program on three cells. Each of its callers must be served by the cell that has their workspace. */

let program: CellsProgram
const endpoints = new Map<TestCell, TestEndpoint>()

beforeAll(async () => {
  program = await startCells(await threeDatabases())
  for (const cell of program.cells) endpoints.set(cell, await cell.owner.endpoint({ name: cell.name }))
})

/** An endpoint of a cell, made while there are cells. */
function endpointOf(cell: TestCell): TestEndpoint {
  const endpoint = endpoints.get(cell)
  if (endpoint === undefined) throw new Error('There is no endpoint.')
  return endpoint
}

const Items = z.looseObject({ items: z.array(z.looseObject({ id: z.string(), name: z.string() })) })

const eachCell = (work: (cell: TestCell) => Promise<void>) => Promise.all(program.cells.map(work))

/** The number of the cell in a new id. */
const hintOf = (id: string) => Number.parseInt(id.slice(15, 18), 16)

describe('a caller is served by the cell of its workspace', () => {
  test('REST: only its own endpoints are there, and new ids name the cell', async () => {
    await eachCell(async (cell) => {
      const { items } = await cell.owner.expect(cell.owner.get('/api/v1/endpoints'), Items)
      expect(items.map(({ name }) => name)).toEqual([cell.name, 'old'])
      const { id, url } = endpointOf(cell)
      expect([id, url.slice(url.lastIndexOf('/') + 1)].map((one) => one[14])).toEqual(['8', '8'])
      expect(hintOf(id)).toBe(cell.number)
    })
  })

  test('captures: by ids with the cell in them, and by older ones', async () => {
    await eachCell(async (cell) => {
      const { oldUrl, owner, name } = cell
      const endpoint = endpointOf(cell)
      for (let sent = 0; sent < 3; sent += 1) {
        expect((await fetch(oldUrl, { method: 'POST', body: name })).status).toBe(200)
        expect((await endpoint.send({ body: name })).status).toBe(200)
      }
      expect(await endpoint.requests()).toHaveLength(3)
      const { items } = await owner.expect(owner.get('/api/v1/endpoints'), Items)
      const old = items.find((one) => one.name === 'old')
      const { body } = await owner.get(`/api/v1/endpoints/${old?.id}/requests`)
      expect(body).toMatchObject({ totalCount: 3 })
    })
  })

  test('keys made since name their cell, and work at once', async () => {
    await eachCell(async ({ owner, number, name }) => {
      const { key } = await owner.expect(
        owner.post('/api/v1/keys', { name: 'new' }),
        z.looseObject({ key: z.string() }),
      )
      expect(Number.parseInt(key.slice(key.lastIndexOf('_') + 1).slice(0, 3), 36)).toBe(number)
      const renewed = new Client(owner.baseUrl, owner.captureUrl, key, owner.workspaceId)
      const { items } = await renewed.expect(renewed.get('/api/v1/endpoints'), Items)
      expect(items[0]?.name).toBe(name)
    })
  })

  test('tRPC and MCP', async () => {
    await eachCell(async ({ owner, name }) => {
      const creel = createTRPCClient<AppRouter>({
        links: [
          httpLink({ url: `${owner.baseUrl}/trpc`, headers: { Authorization: `Bearer ${owner.key}` } }),
        ],
      })
      expect((await creel.endpoints.list.query({})).items.map((one) => one.name)).toEqual([name, 'old'])
      const answer = await owner.post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_endpoints', arguments: {} } },
        { headers: { Accept: 'application/json, text/event-stream' } },
      )
      expect(answer.text).toContain(`\\"name\\": \\"${name}\\"`)
    })
  })

  test('the console: sign-in with a key and with a link, the session, and its end', async () => {
    await eachCell(async ({ owner, name }) => {
      const browser = await browserOf(owner)
      expect((await browser.query('endpoints.list')).data).toMatchObject({
        items: [{ name }, { name: 'old' }],
      })
      const { url } = await owner.expect(
        owner.post('/api/v1/sign-in-links'),
        z.looseObject({ url: z.string() }),
      )
      const byLink = new TestBrowser(owner)
      expect((await byLink.signIn({ link: url.slice(url.indexOf('#') + 1) })).status).toBe(204)
      expect((await byLink.query('endpoints.list')).status).toBe(200)
      expect((await browser.call('DELETE', '/console/session')).status).toBe(204)
      expect((await browser.query('endpoints.list')).status).toBe(401)
    })
  })

  test('the console: a change by a page of another site is refused, not sent again', async () => {
    await eachCell(async ({ owner }) => {
      const browser = await browserOf(owner)
      expect((await browser.query('endpoints.list')).status).toBe(200)
      const headers = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'cross-site' }
      expect((await browser.mutate('endpoints.create', { name: 'made' }, headers)).status).toBe(401)
      expect((await browser.query('endpoints.list')).status).toBe(200)
    })
  })

  test('a browser that signs in to a workspace of another cell ends its former session', async () => {
    const [first, second] = program.cells
    if (first === undefined || second === undefined) throw new Error('There are no cells.')
    const browser = await browserOf(first.owner)
    const former = new TestBrowser(first.owner)
    former.cookie = browser.cookie
    expect((await former.query('endpoints.list')).status).toBe(200)
    expect((await browser.signIn({ key: second.owner.key })).status).toBe(204)
    expect((await browser.query('endpoints.list')).data).toMatchObject({ items: [{ name: second.name }, {}] })
    expect((await former.query('endpoints.list')).status).toBe(401)
  })

  test('streams: a follower gets the captures of its endpoint', async () => {
    await eachCell(async (cell) => {
      const endpoint = endpointOf(cell)
      await using stream = await openEvents(cell.owner, endpoint.at('/requests/stream'))
      const { id } = await endpoint.capture({ body: `seen by ${cell.name}` })
      expect(await stream.next()).toMatchObject({ event: 'arrived', data: { requests: [{ id }] } })
    })
  })
})

describe('a credential that no cell knows', () => {
  test('is refused when every cell has answered, whatever cell it names', async () => {
    const { captureUrl, baseUrl } = program.process
    const ids = [randomUUID(), '11111111-1111-8002-8111-111111111111', '11111111-1111-8fff-8111-111111111111']
    for (const id of ids) {
      expect((await fetch(`${captureUrl}/hook/${id}`, { method: 'POST' })).status).toBe(404)
    }
    for (const key of ['002', '0zz', ''].map((hint) => `creel_live_${hint}${'a'.repeat(32)}`)) {
      const answer = await fetch(`${baseUrl}/api/v1/endpoints`, {
        headers: { Authorization: `Bearer ${key}` },
      })
      expect(answer.status).toBe(401)
    }
  })

  test('or by another cell than its owner, sees nothing of theirs', async () => {
    const [first, second] = program.cells
    if (first === undefined || second === undefined) throw new Error('There are no cells.')
    const { status } = await first.owner.get(`/api/v1/endpoints/${endpointOf(second).id}`)
    expect(status).toBe(404)
  })
})

test('commands for a workspace find its cell, and refuse a name that two cells have', async () => {
  const [, second] = program.cells
  if (second === undefined) throw new Error('There are no cells.')
  const keysOf = (workspace: string) =>
    runCreel(['key', 'list', '--workspace', workspace, '--json'], { env: program.env })
  for (const { database } of program.cells.slice(0, 2)) {
    await administer(
      database.url,
      "insert into workspaces (id, name, plan, created_at) values (gen_random_uuid(), 'default', 'team', now())",
    )
  }
  const [found, refused] = await Promise.all([keysOf(second.owner.workspaceId), keysOf('default')])
  expect(JSON.parse(found.stdout)).toContainEqual(expect.objectContaining({ name: 'test' }))
  expect(refused.stderr).toContain('Several cells have a workspace "default": cell-1, cell-2.')
})

test('while a cell is away, only its callers and unknown ones are told 503, and it returns by itself', async () => {
  const [first, second, third] = program.cells
  if (first === undefined || second === undefined || third === undefined)
    throw new Error('There are no cells.')
  const list = ({ owner }: TestCell) => owner.get('/api/v1/endpoints')
  await program.without(second, async () => {
    const old = await fetch(second.oldUrl, { method: 'POST' })
    const fresh = await endpointOf(second).send()
    const unknown = await fetch(`${program.process.captureUrl}/hook/${randomUUID()}`, { method: 'POST' })
    const call = await list(second)
    const stranger = await fetch(`${program.process.baseUrl}/api/v1/endpoints`, {
      headers: { Authorization: `Bearer creel_live_${'b'.repeat(32)}` },
    })
    const answers = [old, fresh, unknown, call, stranger]
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503])
    for (const { headers } of answers) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const keys = ['key', 'list', '--json', '--workspace']
    const [ofThird, ofSecond] = await Promise.all(
      [third, second].map(({ owner }) => runCreel([...keys, owner.workspaceId], { env: program.env })),
    )
    expect(ofThird?.exitCode).toBe(0)
    expect(ofSecond?.stderr).toContain('The cell "cell-2" cannot be asked.')
    await eventually(
      'the cell, out of reach',
      async () => (await program.states())[second.name] === 'out of reach',
    )
    expect((await endpointOf(second).send()).status).toBe(503)
    for (const cell of [first, third]) {
      expect((await endpointOf(cell).send()).status).toBe(200)
      expect((await fetch(cell.oldUrl, { method: 'POST' })).status).toBe(200)
      expect((await list(cell)).status).toBe(200)
    }
    expect(await program.states()).toMatchObject({ 'cell-1': 'ok', 'cell-3': 'ok' })
    expect((await fetch(`${program.process.baseUrl}/readyz`)).status).toBe(200)
    const metrics = await (await fetch(`${program.process.baseUrl}/metrics`)).text()
    expect(metrics).toContain('creel_cell_up{cell="cell-2"} 0')
  })
  await eventually('captures again', async () => (await endpointOf(second).send()).status === 200)
  expect((await list(second)).status).toBe(200)
})
