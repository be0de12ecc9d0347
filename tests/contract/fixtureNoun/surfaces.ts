import { beforeAll, expect, test } from 'bun:test'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type * as CreelClient from 'creel-client'
import { z } from 'zod'
import { typesOf } from '../../../clients/typescript/generateTypes.ts'
import { callsOf, streamsOf } from '../../../scripts/client/calls.ts'
import { PAGES } from '../../../scripts/docs.ts'
import { runCreel, temporaryFolder } from '../../support/process.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Every surface of a service whose router lists the fixture. Run by `fixtureNoun.test.ts`. */

const ROOT = join(import.meta.dir, '../../..')
const CLIENT = join(ROOT, 'clients/typescript')
const GREETING = { fixtureId: 'ada', words: 'hello, ada' }

let service: TestService
let description: string

beforeAll(async () => {
  service = await startService()
  description = (await service.alice.call('GET', '/openapi/v1.json')).text
})

const eventsOf = (text: string) => [...text.matchAll(/^(?:id|event|data): .*$/gm)].map(([line]) => line)

test('REST answers the route and sends the stream', async () => {
  const greeted = await service.alice.call('POST', '/api/v1/fixtures/ada/greetings', { word: 'hello' })
  expect(greeted).toMatchObject({ status: 200, body: GREETING })
  const refused = await service.alice.call('POST', '/api/v1/fixtures/ada/greetings', { word: 1 })
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '#/word' }] } })
  const { text } = await service.alice.call('GET', '/api/v1/fixtures/ada/stream')
  expect(eventsOf(text)).toEqual(['id: 1', 'event: counted', 'data: {"fixtureId":"ada","count":1}'])
})

test('the description has both, with the example and the schema of the event', () => {
  const { paths, components } = JSON.parse(description)
  const greet = paths['/api/v1/fixtures/{fixtureId}/greetings'].post
  expect(greet).toMatchObject({
    operationId: 'fixtures_greet',
    tags: ['fixtures'],
    summary: 'Greet a fixture',
  })
  expect(greet.requestBody.content['application/json'].example).toEqual({ word: 'hello' })
  const stream =
    paths['/api/v1/fixtures/{fixtureId}/stream'].get.responses['200'].content['text/event-stream']
  expect(Object.keys(stream['x-events'])).toEqual(['counted'])
  expect(Object.keys(components.schemas)).toContain('FixturesCountEvent')
})

test('tRPC has the procedure and the subscription', async () => {
  const greeted = await service.alice.call('POST', '/trpc/fixtures.greet', {
    fixtureId: 'ada',
    word: 'hello',
  })
  expect(greeted.body).toEqual({ result: { data: GREETING } })
  const input = encodeURIComponent('{"fixtureId":"ada"}')
  const { text } = await service.alice.call('GET', `/trpc/fixtures.count?input=${input}`)
  expect(eventsOf(text)).toContain('data: {"kind":"counted","fixtureId":"ada","count":1}')
})

test('docs/routes.md has a row of each', async () => {
  const page = (await PAGES['docs/routes.md']?.()) ?? ''
  expect(page).toContain(
    '| POST | `/api/v1/fixtures/{fixtureId}/greetings` | `fixtures.greet` | `read` | Greet',
  )
  expect(page).toContain('| `/api/v1/fixtures/{fixtureId}/stream` | `fixtures.count` | `counted` | Count')
})

test('agents have the tool', async () => {
  const ask = async (method: string, params: object) => {
    const message = { jsonrpc: '2.0', id: 1, method, params }
    const headers = { Accept: 'application/json, text/event-stream' }
    return (await service.alice.call('POST', '/mcp', message, { headers })).body
  }
  const Listed = z.object({ result: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }) })
  const { result } = Listed.parse(await ask('tools/list', {}))
  expect(result.tools.find(({ name }) => name === 'greet_fixture')).toMatchObject({
    title: 'Greet a fixture',
    inputSchema: { required: ['fixtureId', 'word'] },
    annotations: { readOnlyHint: true },
  })
  const called = await ask('tools/call', {
    name: 'greet_fixture',
    arguments: { fixtureId: 'ada', word: 'hello' },
  })
  expect(called).toMatchObject({ result: { content: [{ text: JSON.stringify(GREETING, null, 1) }] } })
})

test('`creel api` calls both by their names', async () => {
  const env = { CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key, HOME: await temporaryFolder() }
  const [greeted, counted, listed] = await Promise.all([
    runCreel(['api', 'fixtures.greet', 'ada', '--word', 'hello'], { env }),
    runCreel(['api', 'fixtures.count', 'ada'], { env }),
    runCreel(['api'], { env }),
  ])
  expect(JSON.parse(greeted.stdout)).toEqual(GREETING)
  expect(eventsOf(counted.stdout)).toContain('data: {"fixtureId":"ada","count":1}')
  expect(listed.stdout).toContain('fixtures.greet\tPOST')
})

/** Uses of the fixture's methods that compile, and uses that must not. */
const STORY = `import { createCreel } from './index.ts'

const { calls, streams } = createCreel({ url: 'http://creel', key: 'any' })
export async function story(): Promise<string> {
  const greeting = await calls.fixtures.greet({ fixtureId: 'ada', word: 'hello' })
  for await (const { event, data } of streams.fixtures.count({ fixtureId: 'ada' })) {
    const name: 'counted' = event
    const count: number = data.count
    return greeting.words + name + count
  }
  // @ts-expect-error: the word is missing
  await calls.fixtures.greet({ fixtureId: 'ada' })
  // @ts-expect-error: the answer has no such member
  greeting.other
  return ''
}
`

test('creel-client has typed methods for both, and the stream goes on where it ended', async () => {
  // Beside the sources, so that the compiler and the runtime find what the package needs.
  const folder = await mkdtemp(join(CLIENT, 'node_modules', '.fixture-'))
  try {
    await cp(join(CLIENT, 'src'), folder, { recursive: true })
    await Promise.all([
      writeFile(join(folder, 'schema.ts'), await typesOf(description)),
      writeFile(join(folder, 'calls.ts'), callsOf(description)),
      writeFile(join(folder, 'streams.ts'), streamsOf(description)),
      writeFile(join(folder, 'story.ts'), STORY),
      rm(join(folder, 'trpc.ts')),
      rm(join(folder, 'router.ts')),
    ])
    const tsconfig = {
      extends: join(CLIENT, 'tsconfig.json'),
      compilerOptions: { noEmit: true, rootDir: '.' },
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...tsconfig, include: ['*.ts'] }))
    // Not synchronously: the service is in this process.
    const tsc = Bun.spawn(
      [process.execPath, '--bun', join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    expect(await new Response(tsc.stdout).text()).toBe('')
    await tsc.exited

    const { createCreel }: typeof CreelClient = await import(join(folder, 'index.ts'))
    const creel = createCreel({ url: service.baseUrl, key: service.alice.key })
    const { calls, streams }: { calls: object; streams: object } = creel
    const Greet = z.custom<(input: object) => Promise<unknown>>()
    const { greet } = z.object({ fixtures: z.object({ greet: Greet }) }).parse(calls).fixtures
    expect(await greet({ fixtureId: 'ada', word: 'hello' })).toEqual(GREETING)
    const counted = []
    const Count = z.custom<(input: object) => AsyncIterable<unknown>>()
    const { count } = z.object({ fixtures: z.object({ count: Count }) }).parse(streams).fixtures
    for await (const event of count({ fixtureId: 'ada' })) {
      counted.push(event)
      if (counted.length === 3) break
    }
    expect(counted).toEqual(
      [1, 2, 3].map((n) => ({ id: String(n), event: 'counted', data: { fixtureId: 'ada', count: n } })),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
