import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { type CreelProcess, creel, startCreel } from './creelProcess.ts'

/** No limit gets in the way of a measurement. */
export const UNLIMITED = 2_000_000_000

const Endpoint = z.object({ id: z.string(), url: z.string() })

/** A running service in a folder of its own, with a key. */
export interface BenchService extends AsyncDisposable {
  readonly process: CreelProcess
  readonly env: Readonly<Record<string, string>>
  readonly baseUrl: string
  readonly key: string
  /** A call of the API that must succeed. */
  call(method: string, path: string, body?: unknown): Promise<unknown>
  endpoint(members?: Readonly<Record<string, unknown>>): Promise<z.output<typeof Endpoint>>
}

/** Starts the real program on an embedded Postgres, with the Team plan's limits lifted. */
export async function startBenchService(env: Readonly<Record<string, string>> = {}): Promise<BenchService> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-bench-'))
  await chmod(folder, 0o711)
  const plansFile = join(folder, 'plans.json')
  const lifted = {
    apiRatePerMinute: UNLIMITED,
    captureRatePerMinute: UNLIMITED,
    storedRequestsMax: UNLIMITED,
    parallelAwaitsMax: UNLIMITED,
  }
  await writeFile(plansFile, JSON.stringify({ team: lifted }))
  const full = {
    CREEL_DATA_DIR: join(folder, 'data'),
    CREEL_PLANS_FILE: plansFile,
    CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8',
    PATH: process.env.PATH ?? '',
    ...env,
  }
  const running = await startCreel(full)
  const { key = '' } = await creel(['key', 'create', '--workspace', 'default', '--name', 'bench'], full)
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(running.baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return response.status === 204 ? null : await response.json()
  }
  return {
    process: running,
    env: full,
    baseUrl: running.baseUrl,
    key,
    call,
    endpoint: async (members = {}) => Endpoint.parse(await call('POST', '/api/v1/endpoints', members)),
    async [Symbol.asyncDispose]() {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
