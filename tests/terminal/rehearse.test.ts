import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { runCreel, temporaryFolder } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { startCommand } from './listenerProcess.ts'

/** `creel rehearse` against a sample handler with planted bugs. */

interface Bugs {
  /** Pays the same order twice. */
  readonly paysTwice?: boolean
  /** Answers another status for one kind of order. */
  readonly otherStatus?: boolean
  /** Refuses an order that comes before its predecessor. */
  readonly needsOrder?: boolean
}

const ORDERS = 10

let service: TestService
let endpoint: TestEndpoint
let handler: Receiver
/** Payments of the handler: its state. */
let payments: string[] = []

function handlerWith({ paysTwice, otherStatus, needsOrder }: Bugs) {
  payments = []
  let last = 0
  handler.answer = (request, response) => {
    if (request.method === 'GET') {
      response.end(String(payments.length))
      return
    }
    const { id } = JSON.parse(request.body.toString())
    const isOutOfOrder = needsOrder === true && id < last
    last = Math.max(last, id)
    const isNew = !payments.includes(String(id))
    if (isNew || paysTwice === true) payments.push(String(id))
    response.writeHead(isOutOfOrder ? 500 : otherStatus === true && id === 3 ? 201 : 200)
    response.end(JSON.stringify({ paid: id }))
  }
}

const rehearse = (...words: string[]) =>
  runCreel(['rehearse', endpoint.id, '--to', String(handler.port), '--per-second', '1000', ...words], {
    env: { CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key },
  })

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  handler = await startReceiver()
  endpoint = await service.alice.endpoint({ name: 'orders' })
  for (let id = 1; id <= ORDERS; id += 1)
    await endpoint.capture({ body: JSON.stringify({ id, type: 'order.paid' }) })
})

afterAll(async () => {
  await handler[Symbol.asyncDispose]()
  await service.stop()
})

/** A baseline: the id of a replay of the corrected handler. */
async function baseline(): Promise<string> {
  handlerWith({})
  const { stdout, exitCode } = await rehearse('--json')
  expect(exitCode).toBe(0)
  return JSON.parse(stdout).id
}

/** The options of the command that a rehearsal prints to repeat its first difference. */
function againIn(stdout: string): string[] {
  const [, words = ''] = /Send it again: creel rehearse \S+ --to \S+ (.*)/.exec(stdout) ?? []
  return words.replaceAll("'", '').split(' ')
}

describe('creel rehearse', () => {
  test('finds a handler that is not idempotent, by its state; the corrected one passes', async () => {
    const words = ['--expect', 'idempotent', '--state-url', `http://127.0.0.1:${handler.port}/state`]
    handlerWith({ paysTwice: true })
    const found = await rehearse(...words)
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(`${ORDERS} requests changed the state`)
    const again = againIn(found.stdout)
    expect(again).toEqual(expect.arrayContaining(['--request', '--expect', '--state-url']))
    handlerWith({ paysTwice: true })
    expect((await rehearse(...again)).stdout).toContain('1 requests changed the state')
    handlerWith({})
    const passed = await rehearse(...words)
    expect({ exitCode: passed.exitCode, errors: passed.stderr }).toEqual({
      exitCode: 0,
      errors: expect.any(String),
    })
  })

  test('finds one by its answers, too, with many in flight', async () => {
    const seen = new Set<string>()
    handler.answer = ({ body }, response) => {
      const isAgain = seen.has(body.toString())
      seen.add(body.toString())
      response.writeHead(isAgain ? 409 : 200)
      response.end()
    }
    const found = await rehearse('--expect', 'idempotent', '--concurrency', '8')
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(`${ORDERS} changed`)
  })

  test('compares with the recorded answers of one action, and fails if there are none', async () => {
    await using live = await startReceiver({ status: 204 })
    const own = await service.alice.endpoint({ name: 'two actions' })
    for (const [name, url] of [
      ['Billing', live.url],
      ['Analytics', handler.url],
    ])
      await service.alice.post(own.at('/actions'), { kind: 'forward', name, url })
    handler.answer = { status: 200 }
    await own.capture()
    await eventually('the deliveries', async () => {
      const { body } = await service.alice.get(own.at('/deliveries?state=Succeeded'))
      return Object(body).items.length === 2
    })
    const against = (...words: string[]) =>
      runCreel(
        [
          'rehearse',
          own.id,
          '--to',
          String(handler.port),
          '--per-second',
          '1000',
          '--against',
          'recorded',
        ].concat(words),
        { env: { CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key } },
      )
    const unnamed = await against()
    expect(unnamed.exitCode).not.toBe(0)
    expect(unnamed.stderr).toContain('Billing (')
    // An equal answer counts as slower where the machine is busy.
    expect((await against('--action', 'Analytics')).stdout).toMatch(
      /1 equal, 0 changed, 0 failed, 0 slower|0 equal, 0 changed, 0 failed, 1 slower/,
    )
    const differs = await against('--action', 'Billing')
    expect(differs.stdout).toContain('status: 204 became 200')
    expect(differs.stdout).toMatch(/Send it again: .*--action 'Billing'/)
    const none = await rehearse('--against', 'recorded')
    expect(none.exitCode).toBe(1)
    expect(none.stdout).toContain('Nothing was compared')
    expect(none.stdout).toContain(`${ORDERS} not compared`)
  })

  test('finds one changed status, prints its difference and a command that sends it again, and writes reports', async () => {
    const id = await baseline()
    handlerWith({ otherStatus: true })
    const folder = await temporaryFolder()
    const [junit, md] = [join(folder, 'out.xml'), join(folder, 'out.md')]
    const found = await rehearse('--against', id, '--junit', junit, '--md', md)
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain('status: 200 became 201')
    expect(await readFile(junit, 'utf8')).toContain('failures="1"')
    expect(await readFile(md, 'utf8')).toContain('status: 200 became 201')
    const repeated = await rehearse(...againIn(found.stdout))
    expect(repeated.exitCode).toBe(1)
    expect(repeated.stdout).toContain('1 of 1 sent')
  })

  test('finds a handler that breaks on another order, with the same seed again', async () => {
    const id = await baseline()
    const words = ['--against', id, '--faults', 'reorder=0.3', '--seed', '42']
    const runs = []
    for (let run = 0; run < 2; run += 1) {
      handlerWith({ needsOrder: true })
      runs.push(await rehearse(...words))
    }
    const [one, two] = runs
    expect(one?.exitCode).toBe(1)
    expect(one?.stdout).toContain('3 failed')
    // The printed command ends where its own run began.
    const first = (stdout = '') => stdout.slice(stdout.indexOf('First:'), stdout.indexOf('Send it again'))
    expect(first(two?.stdout)).toBe(first(one?.stdout))
    expect(one?.stdout).toContain('--faults reorder=0.3 --seed 42')
    handlerWith({})
    expect((await rehearse(...words)).exitCode).toBe(0)
  })

  test.each([
    '--since 1h --faults reorder=0.3 --seed 42',
    '--order shuffled --seed 7',
    '--request #1 #3 #5 #7 --faults reorder=0.5 --seed 42',
  ])('%s: the printed command repeats what it found', async (given) => {
    const own = await service.alice.endpoint({ name: 'repeated' })
    const to = ['rehearse', own.id, '--to', String(handler.port)]
    const env = { CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key }
    const requests: number[] = []
    for (let id = 0; id < ORDERS; id += 1)
      requests.push((await own.capture({ body: JSON.stringify({ id }) })).id)
    const words = given.replaceAll(/#(\d)/g, (_, at) => String(requests[Number(at)])).split(' ')
    handlerWith({})
    const { id } = JSON.parse((await runCreel([...to, '--json', '--per-second', '1000'], { env })).stdout)
    // Whether an answer counts as slower differs from run to run.
    const outcome = ({ stdout }: { stdout: string }) =>
      stdout.slice(stdout.indexOf('First:'), stdout.indexOf('Send it again'))
    handlerWith({ needsOrder: true })
    const first = await runCreel([...to, ...words, '--per-second', '1000', '--against', id], { env })
    expect(first.stdout).toContain('Send it again')
    // A later capture is no part of it.
    await own.capture({ body: JSON.stringify({ id: ORDERS + 1 }) })
    handlerWith({ needsOrder: true })
    const again = againIn(first.stdout)
    expect(again.join(' ')).not.toContain('1h')
    expect(outcome(await runCreel([...to, ...again], { env }))).toBe(outcome(first))
  })

  test('finds a server that does not answer', async () => {
    handler.answer = (_request, response) => response.destroy()
    const found = await rehearse()
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(`${ORDERS} failed`)
  })

  test('sends to free slots while an answer takes long', async () => {
    const held: (() => void)[] = []
    let answered = 0
    handler.answer = (request, response) => {
      const end = () => response.end()
      if (JSON.parse(request.body.toString()).id === 1) held.push(end)
      else {
        end()
        answered += 1
      }
    }
    const rehearsing = runCreel(
      ['rehearse', endpoint.id, '--to', String(handler.port), '--per-second', '5', '--concurrency', '4'],
      { env: { CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key } },
    )
    await eventually('all others', () => answered === ORDERS - 1)
    expect(held).toHaveLength(1)
    for (const end of held) end()
    expect((await rehearsing).exitCode).toBe(0)
  })

  test('that cannot report an answer says so, and leaves no replay behind', async () => {
    handler.answer = { status: 200 }
    using front = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        if (pathname.endsWith('/answer')) return new Response('broken', { status: 418 })
        const { method, headers } = request
        return fetch(service.baseUrl + pathname + search, { method, headers, body: await request.text() })
      },
    })
    const words = ['--to', String(handler.port), '--per-second', '1000', '--concurrency', '4']
    const failed = await runCreel(['rehearse', endpoint.id, ...words], {
      env: { CREEL_URL: front.url.origin, CREEL_KEY: service.alice.key },
    })
    expect(failed.exitCode).toBe(1)
    expect(failed.stderr).toContain('418')
    const { body } = await service.alice.get(endpoint.at('/replays'))
    expect(Object(body).items[0].state).toBe('cancelled')
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('that %s stops leaves no replay behind', async (signal) => {
    const isReached = Promise.withResolvers<void>()
    handler.answer = () => isReached.resolve()
    const rehearsing = startCommand(['rehearse', endpoint.id, '--to', String(handler.port)], {
      CREEL_URL: service.baseUrl,
      CREEL_KEY: service.alice.key,
    })
    await isReached.promise
    rehearsing.signal(signal)
    expect(await rehearsing.exited).toBe(1)
    expect(rehearsing.stderr()).toContain('creel: Stopped, and cancelled the replay.')
    const { body } = await service.alice.get(endpoint.at('/replays'))
    expect(Object(body).items[0].state).toBe('cancelled')
  })

  test('sends to another machine only with --yes, and says where and how many', async () => {
    const words = ['rehearse', endpoint.id, '--to', 'https://staging.example.com/hooks']
    const refused = await runCreel(words, {
      env: { CREEL_URL: service.baseUrl, CREEL_KEY: service.alice.key },
    })
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain(`${ORDERS} sends`)
    expect(refused.stderr).toContain('https://staging.example.com/hooks')
    expect(refused.stderr).toContain('--yes')
  })

  test.each([
    ['--faults', 'explode'],
    ['--faults', 'duplicate=2'],
    ['--expect', 'speed'],
    ['--sign', 'me'],
    ['--expect idempotent --concurrency 2 --state-url', 'http://localhost/'],
  ])('%s %s is refused', async (option, value) => {
    const refused = await rehearse(...option.split(' '), value)
    expect(refused.exitCode).toBe(2)
  })
})
