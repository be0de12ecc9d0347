import { beforeAll, describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import { startReceiver } from '../support/receiver.ts'
import { sendRaw } from '../support/sender.ts'
import { startService, type TestService } from '../support/service.ts'
import { startCommand } from './listenerProcess.ts'
import { emptyHome, environmentOf, fails } from './support.ts'

let service: TestService
let env: Record<string, string>

beforeAll(async () => {
  service = await startService()
  env = environmentOf(service.alice, await emptyHome())
})

const events = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

describe('creel listen', () => {
  test('sends what was captured byte for byte, and says so in one line each', async () => {
    await using local = await startReceiver({ status: 201 })
    const endpoint = await service.alice.endpoint({ name: 'bytes' })
    const listener = startCommand(['listen', 'bytes', '--to', `http://127.0.0.1:${local.port}/app`], env)
    await listener.says(/connected/)
    expect(listener.stdout()).toBe(`${endpoint.url}\n`)
    const body = new Uint8Array([0, 255, 10, 13, 27])
    const headers = {
      'X-Second': 'zwei',
      'x-first': Buffer.from('zoë').toString('latin1'),
      'X-Latin1': 'zo\u00eb',
      'Content-Type': 'image/png',
    }
    const target = `${endpoint.url}/a%2Fb/c?x=1&x=%20`
    await sendRaw(target, { method: 'PUT', headers: Object.entries(headers), body })
    const [request] = await local.take(1)
    expect(request).toMatchObject({ method: 'PUT', url: '/app/a%2Fb/c?x=1&x=%20', body: Buffer.from(body) })
    // The order, spelling and bytes of headers are kept, whether the bytes are UTF-8 or not.
    const own = /^(host|connection|content-length|creel-.*)$/i
    expect(request?.rawHeaders.filter(([name]) => !own.test(name))).toEqual(Object.entries(headers))
    await listener.says(/PUT {5}\/a%2Fb\/c\?x=1&x=%20 {2}5 B {2}→ 201 {2}\d+ ms\n/)
    // npm and its launcher pass a signal on, so that it comes again until the very end.
    // One that this process sends late, since it is busy, would be a second wish.
    const until = performance.now() + 80
    const echo = setInterval(
      () => (performance.now() < until ? listener.signal('SIGTERM') : clearInterval(echo)),
      1,
    )
    listener.signal('SIGTERM')
    expect(await listener.exited).toBe(0)
    clearInterval(echo)
    expect(listener.stderr()).toContain('Stopped after #')
  })

  test('goes on where it stopped, begins where --since says, and sends only what --filter lets through', async () => {
    await using local = await startReceiver()
    const endpoint = await service.alice.endpoint({ name: 'since' })
    const to = ['listen', 'since', '--to', `http://127.0.0.1:${local.port}`, '--json']
    const first = startCommand(to, env)
    await first.says(/"state":"connected"/)
    await endpoint.send({ body: '{"n":1}' })
    await local.take(1)
    first.signal('SIGTERM')
    await first.exited
    await endpoint.send({ body: '{"n":2}' })
    const second = startCommand(to, env)
    await local.take(2)
    second.signal('SIGTERM')
    await second.exited
    expect(events(second.stdout())).toContainEqual(expect.objectContaining({ event: 'started', behind: 1 }))

    const condition = '{"path":"body.n","op":"gte","value":2}'
    const third = startCommand(
      [...to, '--since', 'start', '--filter', 'method:post since:1h', condition],
      env,
    )
    await endpoint.send({ body: '{"n":3}' })
    const received = await local.take(4)
    third.signal('SIGTERM')
    await third.exited
    expect(received.map(({ body }) => body.toString())).toEqual(['{"n":1}', '{"n":2}', '{"n":2}', '{"n":3}'])
    expect((await fails([...to, '--filter', 'colour:red'], env)).stderr).toContain('has no word "colour:"')
    for (const [filters, sentence] of [
      [['--filter', 'vip', '--filter', 'order.paid'], 'takes one text, and "vip" and "order.paid"'],
      [['--filter', 'order', 'paid'], 'takes one text, and "order" and "paid"'],
      [['--filter', 'label:b', '--filter', 'label:a'], 'takes one label, and "b" and "a"'],
      [['--filter', 'is:verified verification:failed'], 'takes one verification'],
    ] as const) {
      expect(await fails([...to, ...filters], env)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(sentence),
      })
    }
    expect((await fails([...to, '--since', 'yesterday'], env)).exitCode).toBe(2)
    expect((await fails([...to, '--filter', 'since:yesterday'], env)).exitCode).toBe(2)
    for (const since of ['99999999999d', '2026-02-31'])
      expect((await fails([...to, '--since', since], env)).exitCode).toBe(2)
  })

  test('a port without a server is told once, and what comes is kept until there is one', async () => {
    const endpoint = await service.alice.endpoint({ name: 'held' })
    const port = await freePort()
    const listener = startCommand(['listen', 'held', '--to', `http://127.0.0.1:${port}`], env)
    await listener.says(/connected/)
    for (const n of [1, 2, 3]) await endpoint.send({ body: `{"n":${n}}` })
    await listener.says(/waiting for the local server/)
    const bodies: string[] = []
    const server = Bun.serve({
      port,
      hostname: '127.0.0.1',
      async fetch(request) {
        bodies.push(await request.text())
        return new Response('ok')
      },
    })
    await eventually('three requests', () => bodies.length === 3)
    listener.signal('SIGTERM')
    await listener.exited
    await server.stop(true)
    expect(bodies).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
    expect(listener.stderr().match(/waiting for the local server/g)).toHaveLength(1)
  })

  test('with several under way at once nothing is lost or sent twice, also over a restart', async () => {
    await using local = await startReceiver()
    const endpoint = await service.alice.endpoint({ name: 'several' })
    const to = ['listen', 'several', '--to', `http://127.0.0.1:${local.port}`, '--concurrency', '16']
    for (let round = 0; round < 2; round += 1) {
      const listener = startCommand([...to, ...(round === 0 ? ['--since', 'start'] : [])], env)
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => endpoint.send({ body: String(round * 100 + n) })),
      )
      await local.take((round + 1) * 100)
      listener.signal('SIGTERM')
      await listener.exited
    }
    const numbers = local.received.map(({ body }) => Number(body.toString()))
    expect(numbers.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  })

  test('asked twice at once, as by Ctrl-C below npx, it lets what is under way end', async () => {
    await using local = await startReceiver()
    const endpoint = await service.alice.endpoint({ name: 'echo' })
    const listener = startCommand(['listen', 'echo', '--to', String(local.port)], env)
    await listener.says(/connected/)
    const held = Promise.withResolvers<void>()
    local.answer = (_request, response) => void held.promise.then(() => response.end())
    await endpoint.send({ body: '1' })
    await local.take(1)
    listener.signal('SIGINT')
    listener.signal('SIGTERM')
    await listener.says(/Waiting for the local server to answer\. Ctrl-C again stops at once/)
    held.resolve()
    expect(await listener.exited).toBe(0)
  })

  test('what waited behind a slow answer when it was stopped is sent by the next start', async () => {
    await using local = await startReceiver()
    const endpoint = await service.alice.endpoint({ name: 'stopped' })
    for (const body of ['1', '2']) await endpoint.send({ body })
    const to = ['listen', 'stopped', '--to', String(local.port)]
    const held = Promise.withResolvers<void>()
    local.answer = (_request, response) => void held.promise.then(() => response.end())
    const first = startCommand([...to, '--since', 'start'], env)
    await local.take(1)
    first.signal('SIGINT')
    await first.says(/Waiting for the local server to answer/)
    held.resolve()
    expect(await first.exited).toBe(0)
    await endpoint.send({ body: '3' })
    const second = startCommand(to, env)
    await local.take(2)
    expect(local.received.slice(0, 2).map(({ body }) => body.toString())).toEqual(['1', '2'])
    second.signal('SIGTERM')
    await second.exited
  })

  test('begins where --since says while captures arrive all the time', async () => {
    await using local = await startReceiver()
    const endpoint = await service.alice.endpoint({ name: 'busy' })
    await endpoint.send({ body: 'first' })
    // Each call of the list is followed by a capture before its answer is read.
    let lists = 0
    const tooMany = Promise.withResolvers<never>()
    using proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      async fetch({ method, url, headers, body, signal }) {
        const { pathname, search } = new URL(url)
        headers.delete('host')
        const to = `${service.baseUrl}${pathname}${search}`
        const answer = await fetch(to, { method, headers, body, signal, decompress: false })
        if (pathname.endsWith('/requests')) {
          lists += 1
          if (lists === 20) tooMany.reject(new Error('The list is read again and again.'))
          await endpoint.send({ body: 'later' })
        }
        return answer
      },
    })
    const listener = startCommand(['listen', 'busy', '--to', String(local.port), '--since', '1h'], {
      ...env,
      CREEL_URL: proxy.url.origin,
    })
    const [first] = await Promise.race([local.take(1), tooMany.promise])
    expect(first?.body.toString()).toBe('first')
    listener.signal('SIGTERM')
    await listener.exited
  })

  test('refuses a timeout that ends at once, and a target that it would not keep to', async () => {
    for (const timeout of ['0', '0.1ms', '25d'])
      expect(await fails(['listen', '--to', '9', '--timeout', timeout], env)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('more than 0s, and at most 24d'),
      })
    for (const to of ['0', 'http://127.0.0.1:0', 'http://name:word@127.0.0.1:9'])
      expect(await fails(['listen', '--to', to], env)).toMatchObject({ exitCode: 2 })
  })

  test('ends with the reason when its endpoint is deleted', async () => {
    const endpoint = await service.alice.endpoint({ name: 'gone' })
    const listener = startCommand(['listen', 'gone', '--to', '9'], env)
    await listener.says(/connected/)
    await service.alice.delete(`/api/v1/endpoints/${endpoint.id}`)
    expect(await listener.exited).toBe(1)
    expect(listener.stderr()).toContain('No such endpoint')
  })
})

describe('creel tail', () => {
  test('follows without sending, as lines or as JSON', async () => {
    const endpoint = await service.alice.endpoint({ name: 'tailed' })
    const tail = startCommand(['tail', 'tailed', '--json'], env)
    await tail.says(/"state":"connected"/)
    await endpoint.send({ body: '{"type":"order.paid"}', suffix: '/eu' })
    await tail.says(/"event":"request"/)
    expect(events(tail.stdout())).toContainEqual(
      expect.objectContaining({
        event: 'request',
        local: null,
        request: expect.objectContaining({ path: '/eu', body: '{"type":"order.paid"}' }),
      }),
    )
    const lines = startCommand(['tail', 'tailed', '--since', 'start'], env)
    await lines.says(/POST {4}\/eu {2}order\.paid {2}21 B\n/)
    for (const command of [tail, lines]) {
      command.signal('SIGINT')
      expect(await command.exited).toBe(0)
    }
    expect(lines.stderr()).toMatch(/Stopped after #\d+\.\n$/)
  })
})
