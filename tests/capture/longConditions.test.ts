import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { servicePerTest } from '../support/service.ts'

const start = servicePerTest()

const leaf = (path: string, op: string, value: unknown) => ({ path, op, value })

/** A list, by default of 400 KB, the last element of which is this number. */
const listWith = (last: number, ones = 200_000) =>
  JSON.stringify({ type: 'list', items: [...new Array(ones).fill(1), last] })

describe('captures with conditions that take long', () => {
  test('are evaluated as short ones are: each is answered, labelled and delivered', async () => {
    const service = await start()
    await using receiver = await startReceiver()
    const { alice } = service
    const endpoint = await alice.endpoint()
    for (const wanted of [7, 8]) {
      const condition = leaf('body.items[*]', 'eq', wanted)
      const url = `${receiver.url}?wanted=${wanted}`
      expect((await alice.post(endpoint.at('/actions'), { kind: 'forward', url, condition })).status).toBe(
        201,
      )
    }
    // A capture waits for 30 s at most. No body is refused although a busy machine evaluates a tenth as fast.
    const bodies = [7, 9, 8, 7, 9, 8, 7, 9].map((last) => listWith(last, 40_000))
    const answers = await Promise.all(bodies.map((body) => endpoint.send({ body })))
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
    const received = await receiver.take(5)
    expect(received.map(({ url }) => url.slice(-1)).sort()).toEqual(['7', '7', '7', '8', '8'])
    const rows = await eventually('all rows', async () => {
      const found = await endpoint.requests()
      return found.length === bodies.length ? found : undefined
    })
    expect(rows.filter(({ state }) => state === 'Skipped')).toHaveLength(3)
    expect(new Set(rows.map(({ label }) => label))).toEqual(new Set(['list']))
  })

  test('that wait are evaluated by the settings of the moment when they are stored', async () => {
    const { alice } = await start({ parts: ['gateway'] })
    const endpoint = await alice.endpoint()
    const slow = { any: Array.from({ length: 3 }, (_, n) => leaf('body.items[*]', 'gt', 1000 + n)) }
    const action = { kind: 'forward', url: 'http://127.0.0.1:9/' }
    expect((await alice.post(endpoint.at('/actions'), { ...action, condition: slow })).status).toBe(201)
    expect((await endpoint.send()).status).toBe(200)
    // Many, so that the action is there before the last of them is evaluated, also on a busy machine.
    const waiting = Array.from({ length: 8 }, () => endpoint.send({ body: listWith(1) }))
    // The action is added while the first of them is in flight at the earliest. By the old settings none matches.
    await Promise.race(waiting)
    expect((await alice.post(endpoint.at('/actions'), action)).status).toBe(201)
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status }) => status)).toEqual(waiting.map(() => 200))
    const [newest] = await endpoint.requests()
    expect(newest).toMatchObject({ state: 'Pending' })
  })

  test('that wait are stored and answered though their senders have half-closed', async () => {
    const { alice } = await start({ parts: ['gateway'] })
    const endpoint = await alice.endpoint()
    const condition = { any: Array.from({ length: 3 }, (_, n) => leaf('body.items[*]', 'gt', 1000 + n)) }
    const action = { kind: 'forward', url: 'http://127.0.0.1:9/', condition }
    expect((await alice.post(endpoint.at('/actions'), action)).status).toBe(201)
    const body = listWith(1)
    const { hostname, port, pathname } = new URL(endpoint.url)
    const senders = Array.from({ length: 4 }, () => {
      const socket = connect(Number(port), hostname)
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      return { socket, answer: once(socket, 'data').then(([bytes]) => String(bytes).slice(9, 12)) }
    })
    // The others wait for the first.
    await Promise.race(senders.map(({ answer }) => answer))
    for (const { socket } of senders) socket.end()
    expect(await Promise.all(senders.map(({ answer }) => answer))).toEqual(['200', '200', '200', '200'])
    expect(await endpoint.requests()).toHaveLength(4)
  })
})
