import { expect } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { z } from 'zod'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type RunningProcess, startProcess, TEST_SECRET_KEY } from '../support/process.ts'
import { startService } from '../support/service.ts'
import type { Account, Innocent } from './innocent.ts'

/** Limit for the bystander's worst answer, on two idle cores. */
const WORST_MS = 1000
/**
 * On a busy machine the limit is higher: these multiples of the answers before the attack, and of a bare echo during
 * it.
 */
const MEDIANS_OF_QUIET = 25
const WORSTS_OF_QUIET = 5
const WORSTS_OF_ECHO = 5
/** A median answer may take this part of the limit for the worst. */
const MEDIANS_OF_WORST = 5
/** A turn of the service's event loop that takes longer makes answers slow because of the service, not of the machine. */
const BUSY_MS = 400
/** Limit for the memory that the service gains during an attack. */
const MORE_MEGABYTES_MAX = 200
/** Rounds of the bystander's calls by which a machine is measured, and on a relay. */
const CALIBRATION_ROUNDS = 6
const RELAY_CALIBRATION_ROUNDS = 2
/** Pause of the bystander between its calls. On a relay it keeps to the rate of an endpoint there. */
const PAUSE_MS = 60
const RELAY_PAUSE_MS = 550

/** The attacker and the bystander are behind the same trusted proxy. */
export const ATTACKER = '198.51.100.66'
const INNOCENT = '203.0.113.9'

/** Header lines of a request that comes from the attacker. */
export const forwarded = `Host: h\r\nX-Forwarded-For: ${ATTACKER}\r\n`

/**
 * A service in a process of its own, with one workspace that attacks and another that captures and reads all the time.
 */
export interface AttackedService {
  readonly creel: RunningProcess
  readonly database: TestDatabase
  readonly port: number
  /** Write key of the attacking workspace, which is on the plan `team`. */
  readonly attackersKey: string
  /** Capture path of an endpoint of the attacking workspace. */
  readonly attackedPath: string
  /** Capture URL and key of the bystander. */
  readonly innocents: { readonly captureUrl: string; readonly key: string }
  /** Header lines that authenticate the attacker and announce JSON. */
  readonly credentials: string
  /**
   * Runs an attack. Fails unless, during it, each answer to the bystander was correct and came in time and the service
   * gained less than 200 MB, and unless the service answers afterwards. The connections of {@link dial} are destroyed
   * at the end.
   *
   * @param busyMs limit for the processor time of one turn of the service's event loop, which also holds while the
   *   machine does other work. Then the median answer is bounded, by default the worst
   */
  attackedBy(attack: () => Promise<void>, busyMs?: number): Promise<void>
  /** Waits for rounds of the bystander's calls, some fourteen a second: an attack is as long as it is looked at. */
  rounds(count: number): Promise<void>
  /** A call of the API by the attacker, with a body of JSON if there is one. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>
  /** Opens a connection of the attacker and writes these bytes. Nothing is read until the caller does. */
  dial(bytes: string | Buffer): Socket
  /** Opens several such connections. */
  many(count: number, bytes: string | Buffer): Socket[]
  /** Stops the service. Fails if it logged an error that `isExpectedError` does not allow. */
  stop(): Promise<void>
}

/** Differences from a usual service. */
export interface AttackedServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Attacks a relay, on which the bystander is another stranger; there the attacker has no key. */
  readonly isRelay?: boolean
  /** Words after the command; by default `--only gateway`, none for a relay. */
  readonly words?: readonly string[]
  /** Whether a log line at level error is expected. By default every such line fails the test. */
  readonly isExpectedError?: (line: string) => boolean
}

const Items = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })

/** Captures a body from the attacker's address. Returns the endpoint and the request. */
export async function capturedAt(
  { origin, pathname }: URL,
  key: string,
  body: string | Blob,
): Promise<{ readonly endpointId: string; readonly requestId: number }> {
  const sender = { 'X-Forwarded-For': ATTACKER }
  const sent = await fetch(origin + pathname, { method: 'POST', headers: sender, body })
  expect(sent.status).toBe(200)
  const endpointId = pathname.split('/').at(-1) ?? ''
  const page = await fetch(`${origin}/api/v1/endpoints/${endpointId}/requests?pageSize=1`, {
    headers: { ...sender, Authorization: `Bearer ${key}` },
  })
  const { items } = Items.parse(await page.json())
  return { endpointId, requestId: items[0]?.id ?? 0 }
}

/** Starts the service and the bystander, and measures the bystander's answers before any attack. */
export async function startAttackedService(options: AttackedServiceOptions = {}): Promise<AttackedService> {
  const { isRelay = false } = options
  const database = await createTestDatabase()
  const creel = await startProcess(
    {
      database,
      command: isRelay ? 'relay' : 'serve',
      env: {
        CREEL_TRUSTED_PROXIES: '127.0.0.1',
        CREEL_CONNECTIONS_MAX: '900',
        CREEL_CONNECTIONS_PER_ADDRESS: '300',
        CREEL_LOG_LEVEL: 'error',
        ...options.env,
      },
    },
    options.words ?? (isRelay ? [] : ['--only', 'gateway']),
  )
  const port = Number(new URL(creel.baseUrl).port)
  const attackersKey = creel.first?.key ?? ''
  const innocents = isRelay ? await endpointOfRelay(creel) : await endpointOfAnotherWorkspace(creel, database)
  const echo = Bun.spawn([process.execPath, new URL('./echo.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const echoUrl = await firstLine(echo.stdout)
  const innocent = new Worker(new URL('./innocent.ts', import.meta.url))
  const order: Innocent = {
    baseUrl: creel.baseUrl,
    ...innocents,
    echoUrl,
    address: INNOCENT,
    pid: creel.pid,
    pauseMs: isRelay ? RELAY_PAUSE_MS : PAUSE_MS,
  }
  const ask = (message: 'account' | number) =>
    new Promise<Account>((resolve) => {
      innocent.onmessage = ({ data }: MessageEvent<Account>) => resolve(data)
      innocent.postMessage(message)
    })
  const account = () => ask('account')
  const rounds = async (count: number) => {
    await ask(count)
  }
  const calibrationRounds = isRelay ? RELAY_CALIBRATION_ROUNDS : CALIBRATION_ROUNDS
  innocent.postMessage(order)
  await rounds(calibrationRounds)
  await account()
  await rounds(calibrationRounds)
  const quiet = await account()
  const quietMs = quietBoundMs(quiet)
  const sockets = new Set<Socket>()

  const expectFast = async (during: Account, busyMs?: number) => {
    const isFast = (boundMs: number) => {
      if (busyMs !== undefined) {
        const medianMax = Math.max(busyMs * during.stretch, boundMs / MEDIANS_OF_WORST)
        // On a busy machine the same work takes more processor time, too.
        return during.worstBusyMs < busyMs * Math.min(during.stretch, 2) && during.medianMs < medianMax
      }
      // PostgreSQL may have waited for a processor, which the echo does not show.
      const isOfMachine = during.worstBusyMs < BUSY_MS && during.medianMs < boundMs / MEDIANS_OF_WORST
      return during.worstMs < boundMs * (isOfMachine ? WORSTS_OF_ECHO : during.stretch)
    }
    let boundMs = Math.max(quietMs, during.echoWorstMs * WORSTS_OF_ECHO)
    if (!isFast(boundMs)) {
      // The machine may have become busy since the first measurement.
      await rounds(calibrationRounds)
      boundMs = Math.max(boundMs, quietBoundMs(await account()))
    }
    expect({ ...during, boundMs, isFast: isFast(boundMs) }).toMatchObject({ isFast: true })
  }
  const residentMegabytes = () => residentMegabytesOf(creel.pid)
  const dial = (bytes: string | Buffer) => {
    const socket = connect(port, '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(bytes)
    return socket
  }

  return {
    creel,
    database,
    port,
    attackersKey,
    attackedPath: new URL(creel.first?.captureUrl ?? creel.baseUrl).pathname,
    innocents,
    rounds,
    credentials: `Authorization: Bearer ${attackersKey}\r\nContent-Type: application/json\r\n`,
    call: (method, path, body, headers = {}) =>
      fetch(creel.baseUrl + path, {
        method,
        headers: {
          Authorization: `Bearer ${attackersKey}`,
          'X-Forwarded-For': ATTACKER,
          'Content-Type': 'application/json',
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    dial,
    many: (count, bytes) => Array.from({ length: count }, () => dial(bytes)),
    async attackedBy(attack, busyMs) {
      const before = await residentMegabytes()
      await account()
      let most = 0
      const looks = setInterval(() => {
        void residentMegabytes().then((megabytes) => {
          most = Math.max(most, megabytes)
        })
      }, 200)
      try {
        await attack()
      } finally {
        clearInterval(looks)
      }
      // The attack may have delayed this process, so that it missed the worst moment.
      most = Math.max(most, await residentMegabytes())
      const during = await account()
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      expect(during.wrong).toEqual([])
      await expectFast(during, busyMs)
      expect({ more: most - before, isSmall: most - before < MORE_MEGABYTES_MAX }).toMatchObject({
        isSmall: true,
      })
      const afterwards = await fetch(`${creel.baseUrl}/readyz`)
      expect(afterwards.status).toBe(200)
      expect((await account()).wrong).toEqual([])
    },
    async stop() {
      innocent.terminate()
      echo.kill()
      await echo.exited
      await creel.stop()
      await database.drop()
      const errors = creel
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"level":"error"'))
      expect(errors.filter((line) => options.isExpectedError?.(line) !== true)).toEqual([])
    },
  }
}

/** Memory of a process. Linux says so in a file, which takes less of the processor than a program that reads it. */
async function residentMegabytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const [, kilobytes = await Bun.$`ps -o rss= -p ${pid}`.text()] = /^VmRSS:\s+(\d+)/m.exec(status) ?? []
  return Number(kilobytes) / 1024
}

/** Limit for the bystander's worst answer, by its answers without an attack. */
function quietBoundMs({ medianMs, worstMs }: Account): number {
  return Math.max(WORST_MS, medianMs * MEDIANS_OF_QUIET, worstMs * WORSTS_OF_QUIET)
}

/** Gets the bystander's endpoint from a relay. */
async function endpointOfRelay({ baseUrl }: RunningProcess) {
  const made = await fetch(`${baseUrl}/relay/endpoints`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': INNOCENT, 'Content-Type': 'application/json' },
  })
  const { url, key } = z.object({ url: z.string(), key: z.string() }).parse(await made.json())
  return { captureUrl: url, key }
}

async function endpointOfAnotherWorkspace(creel: RunningProcess, database: TestDatabase) {
  const secretKey = Buffer.from(TEST_SECRET_KEY, 'base64')
  const { alice, stop } = await startService({ database, secretKey, parts: ['gateway'] })
  const { id } = await alice.endpoint()
  await stop()
  return { captureUrl: `${creel.captureUrl}/hook/${id}`, key: alice.key }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const bytes of stream) return Buffer.from(bytes).toString().trim()
  throw new Error('The echo ended before it was ready.')
}
