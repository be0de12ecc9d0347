import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import description from '../contract/snapshots/openapi.v1.json' with { type: 'json' }
import type { TestEndpoint } from '../support/client.ts'
import { temporaryFolder } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'
import { startCommand } from './listenerProcess.ts'
import { emptyHome, environmentOf, fails, succeeds } from './support.ts'

let service: TestService
let orders: TestEndpoint
let env: Record<string, string>

beforeAll(async () => {
  service = await startService()
  orders = await service.alice.endpoint({ name: 'orders' })
  env = environmentOf(service.alice, await emptyHome())
})

const api = async (...words: string[]) => await succeeds(['api', ...words], env)
const answer = async (...words: string[]): Promise<unknown> => JSON.parse(await api(...words))

describe('creel api', () => {
  test('lists every operation that the service describes, and completes their names', async () => {
    const listed = (await api('--json'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const routes = Object.entries(description.paths).flatMap(([route, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${route}`),
    )
    expect(listed.map(({ method, route }) => `${method} ${route}`)).toEqual(routes)
    expect(await api()).toContain('watchdogs.create\tPOST\t/api/v1/watchdogs\t')
    expect(await succeeds(['complete', '--', 'api', 'watchdogs.s'], env)).toBe(
      'watchdogs.suggest\nwatchdogs.setActive\n',
    )
  })

  test('calls one with options of its own names, path, query and body alike', async () => {
    const words = ['--kind', 'forward', '--url=https://app.example.com/hooks', '--append-path']
    const made = await answer('actions.create', '--endpoint', 'orders', ...words, '--position', '1')
    expect(made).toMatchObject({ name: 'app.example.com', appendPath: true, position: 1 })
    expect(await answer('actions_list', 'orders')).toMatchObject({ actions: [made] })
    const first = await orders.capture({ body: '{"type":"a"}' })
    await orders.capture({ body: '{"type":"b"}' })
    expect(await answer('requests.list', 'orders', '--page-size', '1')).toMatchObject({ totalCount: 2 })
    const deleted = ['requests.bulkDelete', '--request-ids', String(first.id), '--request-ids', '999']
    expect(await answer(...deleted)).toEqual({ deletedCount: 1 })
  })

  test('takes a whole body from a file, and prints what is no JSON as it comes', async () => {
    const file = join(await temporaryFolder(), 'body.json')
    const rule = { version: 1, name: 'Slim', steps: [{ op: 'keep', paths: ['body.id'] }] }
    await writeFile(file, JSON.stringify(rule))
    await api('actions.create', '--kind', 'forward', '--url', 'https://app.example.com/hooks')
    expect(await answer('transformations.create', '--body', `@${file}`)).toMatchObject({ name: 'Slim' })
    const { id } = await orders.capture({ body: 'as it came' })
    expect(await api('requests.body', 'orders', String(id))).toBe('as it came')
    expect(await api('requests.exportMany', '--format', 'ndjson', '--q', 'as it came')).toContain(
      '"as it came"',
    )
    await succeeds(
      ['api', 'endpoints.update', '--body', '{"name":"other"}', '--response-status-code', '202'],
      env,
    )
    expect(await answer('endpoints.get')).toMatchObject({ name: 'other', responseStatusCode: 202 })
    await succeeds(['api', 'endpoints.update', '--name', 'orders'], env)
  })

  test('follows a stream until it is stopped', async () => {
    await orders.capture({ body: 'before' })
    const follow = startCommand(['api', 'requests.follow', 'orders', '--last-event-id', '0'], env)
    await follow.says(/^event: arrived\n.*before/m)
    await orders.capture({ body: 'meanwhile' })
    await follow.says(/meanwhile/)
    follow.signal('SIGINT')
    expect(await follow.exited).toBe(130)
  })

  test('tells what an operation takes', async () => {
    const help = await api('actions.create', '--help')
    expect(help).toStartWith('creel api actions.create: POST /api/v1/endpoints/{endpointId}/actions\n')
    expect(help).toMatch(/--kind <text> +\(required\)/)
    expect(help).toMatch(/--append-path <boolean> /)
  })

  test.each([
    [['endpoint.list'], 'Did you mean endpoints.list'],
    [['actions.create', '--kidn', 'x'], 'Did you mean --kind'],
    [['actions.create', '--url', 'x'], 'actions.create needs --kind.'],
    [['requests.list', '--page', 'two'], '--page must be a number, not "two".'],
    [['endpoints.list', 'orders'], '"orders" is not an option of endpoints.list.'],
    [['endpoints.update', '--body', '{'], '--body is not JSON.'],
  ])('%j is refused with exit code 2', async (words, message) => {
    const refused = await fails(['api', ...words], env)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(message)
  })

  test('passes the refusals of the service on', async () => {
    const refused = await fails(['api', 'actions.create', '--kind', 'forward', '--url', 'nonsense'], env)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('creel: ')
  })
})
