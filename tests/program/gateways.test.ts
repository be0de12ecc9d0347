/**
 * `creel serve --gateways 3`: three processes on one port. Linux alone gives connections to several listeners in turn.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from '../../creel/src/stopping.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type RunningProcess, runCreel, startProcess, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { childrenOf, KeptConnection } from './keptConnection.ts'
import { Senders, storedBodies } from './senders.ts'

const GATEWAYS = 3
/** Limit of one address, in all processes. */
const CONNECTIONS_MAX = 60
/** Limit of one address in a minute, in all processes (docs/security.md). */
const WRONG_CALLS_MAX = 600

let creel: RunningProcess
let headers: Readonly<Record<string, string>>
let endpointId: string
let hookPath: string
/** A connection to each process. */
const connections = new Map<number, KeptConnection>()

const processes = () => [creel.pid, ...childrenOf(creel.pid)]
const key = () => creel.first?.key ?? ''
const others = () => childrenOf(creel.pid)

/** Opens connections until each process has one. */
async function connectToEach(): Promise<void> {
  await eventually('a connection to each process', async () => {
    const kept = await KeptConnection.open(creel.baseUrl)
    const { status } = await kept.ask('GET', '/healthz')
    const pid = kept.servedBy(processes())
    if (status !== 200 || pid === undefined || connections.has(pid)) kept.close()
    else connections.set(pid, kept)
    return connections.size === GATEWAYS
  })
}

const connectionTo = (pid: number | undefined): KeptConnection => {
  const kept = connections.get(pid ?? 0)
  if (kept === undefined) throw new Error('There is no connection to this process.')
  return kept
}

async function storedSoFar(kept: KeptConnection): Promise<number> {
  const { status, body } = await kept.ask('GET', '/metrics')
  expect(status).toBe(200)
  return Number(/^creel_captures_total\{outcome="stored"\} (\d+)$/m.exec(body)?.[1])
}

beforeAll(async () => {
  const plans = join(await temporaryFolder(), 'plans.json')
  await writeFile(plans, '{"team":{"captureRatePerMinute":1000000}}')
  creel = await startProcess(
    {
      database: await createTestDatabase(),
      env: {
        CREEL_PLANS_FILE: plans,
        CREEL_CONNECTIONS_PER_ADDRESS: String(CONNECTIONS_MAX),
        CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8',
      },
    },
    ['--gateways', String(GATEWAYS)],
  )
  headers = { Authorization: `Bearer ${key()}` }
  hookPath = new URL(creel.first?.captureUrl ?? '').pathname
  endpointId = hookPath.slice('/hook/'.length)
  await connectToEach()
})

afterAll(() => {
  for (const kept of connections.values()) kept.close()
})

describe.skipIf(process.platform !== 'linux')('several gateway processes', () => {
  test('take captures on one port, each is delivered once, and any of them tells the sum of all metrics', async () => {
    expect(new Set(processes()).size).toBe(GATEWAYS)
    await using receiver = await startReceiver()
    const action = { kind: 'forward', url: receiver.url }
    const made = await fetch(`${creel.baseUrl}/api/v1/endpoints/${endpointId}/actions`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(action),
    })
    expect(made.status).toBe(201)
    for (const [pid, kept] of connections) {
      for (let n = 0; n < 3; n += 1) {
        expect((await kept.ask('POST', hookPath, {}, `{"pid":${pid},"n":${n}}`)).status).toBe(200)
      }
    }
    const count = GATEWAYS * 3
    const received = await receiver.take(count)
    expect(new Set(received.map(({ body }) => body.toString())).size).toBe(count)
    for (const kept of connections.values()) expect(await storedSoFar(kept)).toBe(count)
    expect(receiver.received.length).toBe(count)
    const { id } = Object(await made.json())
    await fetch(`${creel.baseUrl}/api/v1/endpoints/${endpointId}/actions/${id}`, {
      method: 'DELETE',
      headers,
    })
  })

  test('wake an await in one by a capture in another', async () => {
    const [first, second, third] = processes()
    for (const [waiting, capturing] of [
      [first, second],
      [second, third],
    ]) {
      const stored = await storedBodies(creel.baseUrl, key(), endpointId)
      const path = `/api/v1/endpoints/${endpointId}/requests/await?timeoutSeconds=20&afterId=${stored.length}`
      const answer = connectionTo(waiting).ask('GET', path, headers)
      await eventually('the await', async () => {
        const { body } = await connectionTo(capturing).ask('GET', '/metrics')
        return /^creel_awaits_waiting 1$/m.test(body)
      })
      const sent = performance.now()
      await connectionTo(capturing).ask('POST', hookPath, {}, '{}')
      const capturedMs = performance.now() - sent
      expect((await answer).status).toBe(200)
      // The poll for lost notifications comes every 5 s.
      expect(performance.now() - sent).toBeLessThan(Math.max(1000, 20 * capturedMs))
    }
  })

  test('hold the limit of connections of an address together', async () => {
    const opened = await Promise.all(
      Array.from({ length: CONNECTIONS_MAX + 40 }, () => KeptConnection.open(creel.baseUrl)),
    )
    const own = [...opened, ...connections.values()]
    const open = () => own.filter(({ isClosed }) => !isClosed).length
    await eventually('as many as allowed', () => open() <= CONNECTIONS_MAX)
    expect(open()).toBeGreaterThan(CONNECTIONS_MAX - 10)
    for (const kept of opened) kept.close()
  })

  test('hold the limit of wrong calls of an address together', async () => {
    const wrong = async (kept: KeptConnection, count: number) => {
      for (let call = 0; call < count; call += 1) kept.write(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n`)
      const statuses: number[] = []
      while (statuses.length < count) statuses.push((await kept.answer()).status)
      return statuses.filter((status) => status === 401).length
    }
    const each = Math.ceil((WRONG_CALLS_MAX * 0.8) / GATEWAYS)
    const all = [...connections.values()]
    const answered = await Promise.all(all.map((kept) => wrong(kept, each)))
    expect(answered).toEqual(all.map(() => each))
    // A good part of the limit is left, and the first process to go on may use it.
    const [some] = all
    if (some === undefined) throw new Error('There are no connections.')
    // One by one, so that the counts of the others come meanwhile.
    let left = 0
    while ((await wrong(some, 1)) === 1) left += 1
    expect(left).toBe(WRONG_CALLS_MAX - each * GATEWAYS)
    await eventually('the refusal of each process', async () => {
      const passed = await Promise.all(all.map((kept) => wrong(kept, 1)))
      return passed.every((count) => count === 0)
    })
  })

  test('lose nothing acknowledged when one is killed under load, and it comes back', async () => {
    const before = await storedSoFar(connectionTo(creel.pid))
    const senders = new Senders([`${creel.captureUrl}${hookPath}`])
    await senders.acknowledged(100)
    const scraped = await storedSoFar(connectionTo(creel.pid))
    const [victim = 0, survivor = 0] = others()
    process.kill(victim, 'SIGKILL')
    await senders.acknowledged(300)
    await eventually('three processes', async () => {
      const ready = Object(await (await fetch(`${creel.baseUrl}/readyz`)).json())
      return ready.processes === 'ok' && !others().includes(victim)
    })
    await senders.stop()
    expect([...senders.statuses]).toEqual([200])
    const stored = await storedBodies(creel.baseUrl, key(), endpointId)
    expect(senders.bodies.filter((body) => !stored.includes(body))).toEqual([])
    expect(scraped).toBeGreaterThanOrEqual(before + 100)
    // The counts of the dead process remain in the sum.
    expect(await storedSoFar(connectionTo(survivor))).toBeGreaterThan(scraped)
    connections.get(victim)?.close()
    connections.delete(victim)
    await connectToEach()
  })

  test('refuse the port to another program that would share it', async () => {
    const port = new URL(creel.baseUrl).port
    const { url } = await createTestDatabase()
    const { exitCode, stderr } = await runCreel(['serve', '--gateways', '2', '--port', port], {
      database: { url },
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`Port ${port}`) })
  })

  test('drain all', async () => {
    const children = others()
    const held = [...connections.values()]
    for (const kept of held) {
      kept.write(`POST ${hookPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`)
      expect((await kept.answer()).status).toBe(100)
    }
    creel.signal('SIGTERM')
    await eventually('the port to close', async () => {
      const late = await KeptConnection.open(creel.baseUrl)
      const isClosed = late.isClosed
      late.close()
      return isClosed
    })
    for (const kept of held) kept.write('held')
    for (const kept of held) expect((await kept.answer()).status).toBe(200)
    expect(await creel.exited).toBe(0)
    expect(children.filter((pid) => isAlive(pid))).toEqual([])
  })
})
