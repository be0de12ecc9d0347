import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../faults/random.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { openNetworkPath } from '../support/networkPath.ts'
import { type RunningProcess, startProcess, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { type ListenerProcess, startCommand } from './listenerProcess.ts'
import { emptyHome } from './support.ts'

/** Duration of the faults; for a long run: `CREEL_LISTEN_FAULT_SECONDS=300`. */
const FAULT_SECONDS = Number(process.env.CREEL_LISTEN_FAULT_SECONDS ?? 12)
const SEED = Number(process.env.CREEL_LISTEN_FAULT_SEED ?? Date.now() % 1_000_000)

test(
  'listen brings every capture to the local server, in order, whatever is killed or cut',
  async () => {
    const random = createRandom(SEED)
    const database = await createTestDatabase()
    const plans = join(await temporaryFolder(), 'plans.json')
    await writeFile(plans, '{"team":{"captureRatePerMinute":1000000,"apiRatePerMinute":1000000}}')
    const env = { CREEL_PLANS_FILE: plans }
    await using proxy = await openNetworkPath()
    await using local = await startReceiver()
    let service: RunningProcess = await startProcess({ database, env })
    const first = service.first
    if (first === undefined) throw new Error('The service did not greet.')
    const portOf = ({ baseUrl }: RunningProcess) => Number(new URL(baseUrl).port)
    const lead = () => {
      proxy.target = { host: '127.0.0.1', port: portOf(service) }
    }
    lead()

    const home = await emptyHome()
    const words = ['listen', '--to', `http://127.0.0.1:${local.port}`, '--since', 'last']
    const clientEnv = { CREEL_URL: proxy.origin, CREEL_KEY: first.key, HOME: home }
    let kills = 0
    let isOver = false
    let listener: ListenerProcess | undefined
    // Restarts a listener that has ended, as a user would.
    const keepListening = (async () => {
      while (!isOver) {
        listener = startCommand(words, clientEnv)
        await listener.exited
      }
    })()

    const path = new URL(first.captureUrl).pathname
    const acknowledged: number[] = []
    let sentCount = 0
    const send = async () => {
      const number = sentCount
      sentCount += 1
      const url = `http://127.0.0.1:${portOf(service)}${path}/${number}`
      const stored = await fetch(url, {
        method: 'POST',
        body: String(number),
        signal: AbortSignal.timeout(5000),
      }).then(
        (response) => response.ok,
        () => false,
      )
      if (stored) acknowledged.push(number)
      else await sleep(50)
    }

    // The first start has no checkpoint and begins with new captures, so it must be connected before the first one.
    await eventually('the first capture at the local server', async () => {
      await send()
      return local.received.length > 0
    })
    const begun = Number(local.received[0]?.body.toString())

    const deadline = performance.now() + FAULT_SECONDS * 1000
    const sending = (async () => {
      while (performance.now() < deadline) {
        await send()
        await sleep(random.below(20))
      }
    })()
    while (performance.now() < deadline) {
      await sleep(300 + random.below(900))
      const what = random.below(100)
      if (what < 50) {
        kills += 1
        listener?.signal('SIGKILL')
      } else if (what < 85) {
        proxy.target = undefined
        proxy.cut()
        await sleep(random.below(600))
        lead()
      } else {
        service.signal('SIGKILL')
        await service.exited
        service = await startProcess({ database, env })
        lead()
      }
    }
    await sending
    const numbers = () => local.received.map(({ body }) => Number(body.toString()))
    const last = acknowledged.at(-1) ?? 0
    await eventually('the last capture', () => numbers().includes(last))
    isOver = true
    listener?.signal('SIGTERM')
    await keepListening

    const firstTimes = [...new Set(numbers())]
    const missing = acknowledged.filter((number) => number >= begun && !firstTimes.includes(number))
    expect({ seed: SEED, missing }).toEqual({ seed: SEED, missing: [] })
    expect(firstTimes).toEqual(firstTimes.toSorted((left, right) => left - right))
    expect(numbers().length - firstTimes.length).toBeLessThanOrEqual(kills)
    // A request has the same id every time it comes.
    const idsOf = Map.groupBy(local.received, ({ body }) => body.toString())
    for (const group of idsOf.values()) {
      expect(new Set(group.map((request) => request.header('creel-delivery-id'))).size).toBe(1)
    }
    await service.stop()
    await database.drop()
  },
  (FAULT_SECONDS + 300) * 1000,
)
