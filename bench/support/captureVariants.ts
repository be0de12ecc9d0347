import { z } from 'zod'
import { type BenchEndpoint, type BenchWorkspace, openWorkspace } from './workspace.ts'

const SECRET = 'a secret of the benchmark'
const SIGNATURE_HEADER = 'X-Bench-Signature'
const BODY_BYTES = 1024
/** Cap of endpoints on the plan `pro`, so that they are soon full. */
export const CAP = 1_000

const frame = JSON.stringify({ id: 'evt_bench', type: 'bench', data: '' })
/** 1 KB of JSON. */
export const BODY = frame.replace('"data":""', `"data":"${'x'.repeat(BODY_BYTES - frame.length)}"`)
/** Header fields of every capture of the benchmark, checked or not. */
export const HEADERS = {
  [SIGNATURE_HEADER]: new Bun.CryptoHasher('sha256', SECRET).update(BODY).digest('hex'),
} as const

/** An endpoint under load. */
export interface Variant extends BenchEndpoint {
  readonly name: 'below cap' | 'at cap' | 'all features'
  readonly workspace: BenchWorkspace
}

/**
 * The three measured endpoints: one with room, one at its cap, and one at its cap with a signature, a condition and a
 * watchdog.
 */
export async function captureVariants(
  baseUrl: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly Variant[]> {
  const on = async (name: Variant['name'], plan: string): Promise<Variant> => {
    const workspace = await openWorkspace(baseUrl, env, plan)
    return { name, workspace, ...(await workspace.endpoint()) }
  }
  const withAll = await on('all features', 'pro')
  await addFeatures(withAll)
  return [await on('below cap', 'team'), await on('at cap', 'pro'), withAll]
}

async function addFeatures({ id, workspace }: Variant): Promise<void> {
  const path = `/api/v1/endpoints/${id}`
  await workspace.call('PATCH', path, { signatureHeader: SIGNATURE_HEADER, signingSecret: SECRET })
  // The URL must pass the check on save; nothing is ever sent to it.
  await workspace.call('POST', `${path}/actions`, {
    kind: 'forward',
    url: 'http://127.0.0.1:9/',
    condition: { path: 'body.type', op: 'eq', value: 'never' },
  })
  await workspace.call('POST', '/api/v1/watchdogs', { endpointId: id, expectedIntervalSeconds: 3600 })
}

const Stats = z.object({ storage: z.object({ storedRequestCount: z.int(), evictedCount: z.int() }) })

/** Number of requests that an endpoint has stored since it was made. */
export async function everStored({ id, workspace }: Pick<Variant, 'id' | 'workspace'>): Promise<number> {
  const { storage } = Stats.parse(await workspace.call('GET', `/api/v1/endpoints/${id}/stats`))
  return storage.storedRequestCount + storage.evictedCount
}
