import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { type CreelProcess, creel, startCreel } from './creelProcess.ts'

/** Value of limits, so high that none affects a measurement. */
const UNLIMITED = 2_000_000_000

const LIFTED = {
  apiRatePerMinute: UNLIMITED,
  captureRatePerMinute: UNLIMITED,
  captureBytesPerMinute: 1e15,
  storedBytesMax: 1e15,
  storedRequestsMax: UNLIMITED,
  parallelAwaitsMax: UNLIMITED,
  endpointsMax: UNLIMITED,
  watchdogsMax: UNLIMITED,
  eventSubscriptionsMax: UNLIMITED,
}

type PlanLimits = Readonly<Record<string, Readonly<Record<string, number>>>>

const Endpoint = z.object({ id: z.string(), url: z.string() })
export type BenchEndpoint = z.output<typeof Endpoint>

/** Data folder of a service under measurement; removed when disposed of. */
export interface BenchFolder extends AsyncDisposable {
  readonly dataDir: string
  /** Limits that override those of the shipped plans. */
  readonly plans: PlanLimits
  /** Environment for starting the program. */
  readonly env: Readonly<Record<string, string>>
}

/** A workspace, and calls with its key. */
export interface BenchWorkspace {
  readonly id: string
  readonly key: string
  /** A call of the API that must succeed; null if the answer is empty. */
  call(method: string, path: string, body?: unknown): Promise<unknown>
  endpoint(members?: Readonly<Record<string, unknown>>): Promise<BenchEndpoint>
}

/** A running service in its own folder, with a workspace on the Team plan without limits. */
export interface BenchService extends BenchWorkspace, AsyncDisposable {
  readonly process: CreelProcess
  readonly folder: BenchFolder
  readonly env: Readonly<Record<string, string>>
  readonly baseUrl: string
}

/** @param plans limits of other plans than Team, over lifted ones */
export async function openBenchFolder(plans: PlanLimits = {}): Promise<BenchFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-bench-'))
  // If this process is root, Postgres runs as another user.
  await chmod(folder, 0o711)
  const lifted = Object.fromEntries(
    Object.entries({ team: {}, ...plans }).map(([plan, limits]) => [plan, { ...LIFTED, ...limits }]),
  )
  const plansFile = join(folder, 'plans.json')
  await writeFile(plansFile, JSON.stringify(lifted))
  const dataDir = join(folder, 'data')
  return {
    dataDir,
    plans: lifted,
    env: {
      CREEL_DATA_DIR: dataDir,
      CREEL_PLANS_FILE: plansFile,
      CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8',
      PATH: process.env.PATH ?? '',
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Makes a workspace with a key on a running service. */
export async function openWorkspace(
  baseUrl: string,
  env: Readonly<Record<string, string>>,
  plan = 'team',
): Promise<BenchWorkspace> {
  const name = `bench ${crypto.randomUUID()}`
  const { id = '' } = await creel(['workspace', 'create', '--name', name, '--plan', plan], env)
  const { key = '' } = await creel(['key', 'create', '--workspace', id, '--name', 'bench'], env)
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  return {
    id,
    key,
    call,
    endpoint: async (members = {}) => Endpoint.parse(await call('POST', '/api/v1/endpoints', members)),
  }
}

/**
 * Starts the real program on an embedded Postgres.
 *
 * @param plans limits of other plans than Team, over lifted ones
 */
export async function startBenchService(
  env: Readonly<Record<string, string>> = {},
  plans: PlanLimits = {},
): Promise<BenchService> {
  const folder = await openBenchFolder(plans)
  const full = { ...folder.env, ...env }
  const running = await startCreel(full)
  return {
    ...(await openWorkspace(running.baseUrl, full)),
    process: running,
    folder,
    env: full,
    baseUrl: running.baseUrl,
    async [Symbol.asyncDispose]() {
      await running.stop()
      await folder[Symbol.asyncDispose]()
    },
  }
}
