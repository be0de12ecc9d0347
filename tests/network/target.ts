import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { INSIDE } from './inside.ts'

/** Limits that the service under test is started with: small enough to be reached. */
export const CONNECTIONS_MAX = 700
export const CONNECTIONS_PER_ADDRESS = 120

/** Address of the trusted proxy. */
export const PROXY = '127.0.0.1'

/**
 * Environment of a service under test, without its database.
 *
 * @param folder for the socket of `inside.ts`
 */
export function targetEnv(folder: string) {
  const preloads = ['inside.ts', 'plantedFaults.ts'].map((file) => `--preload=${join(import.meta.dir, file)}`)
  return {
    CREEL_CONNECTIONS_MAX: String(CONNECTIONS_MAX),
    CREEL_CONNECTIONS_PER_ADDRESS: String(CONNECTIONS_PER_ADDRESS),
    CREEL_TRUSTED_PROXIES: PROXY,
    CREEL_DEFAULT_PLAN: 'self-hosted',
    BUN_OPTIONS: preloads.join(' '),
    [INSIDE]: join(folder, 'inside.sock'),
  }
}

/** A service under test, in a process of its own. */
export interface Service {
  readonly pid: number
  readonly baseUrl: string
  /** Write key of the workspace that is attacked. */
  readonly key: string
  /** Write key of another workspace. */
  readonly bystanderKey: string
  /** Path of the socket of `inside.ts`. */
  readonly inside: string
  readonly exited: Promise<number>
  /** Everything that the service has logged so far. */
  log(): string
}

/** An endpoint whose answer differs from those of all others. */
export interface TargetEndpoint {
  readonly id: string
  readonly status: number
  readonly answer: string
}

/** A file that the service sends. */
export interface TargetFile {
  readonly path: string
  readonly bytes: number
  /** SHA-256 in hex. */
  readonly digest: string
}

/** A capture, as it must be found in the list of its endpoint. */
export interface StoredCapture {
  readonly tag: string
  readonly endpointId: string
  readonly bytes: number
}

/** The service that hostile requests attack, with its endpoints and files. */
export interface Target extends Service {
  readonly port: number
  readonly endpoints: readonly [TargetEndpoint, ...TargetEndpoint[]]
  readonly files: readonly [TargetFile, ...TargetFile[]]
  /** Path of the bystander's endpoint. */
  readonly bystanderPath: string
  /** A call with the key of the attacked workspace, or another one, that must succeed. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<unknown>
}

const ENDPOINT_STATUSES = [200, 201, 202, 203, 207] as const
const FILES = ['/openapi/v1.json', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'] as const
const Made = z.looseObject({ id: z.string() })

/** Makes the endpoints of a fresh service and reads the files that it sends. */
export async function prepareTarget(service: Service): Promise<Target> {
  const { baseUrl } = service
  const call: Target['call'] = async (method, path, body, key = service.key) => {
    const answer = await fetch(baseUrl + path, {
      method,
      // These connections must not stay open, since connections are counted.
      keepalive: false,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
  const endpointOf = async (status: number): Promise<TargetEndpoint> => {
    const answer = `stored with ${status}`
    const made = await call('POST', '/api/v1/endpoints', {
      provider: 'microsoft-graph',
      responseStatusCode: status,
      responseBody: answer,
    })
    return { id: Made.parse(made).id, status, answer }
  }
  const fileOf = async (path: string): Promise<TargetFile> => {
    const answer = await fetch(baseUrl + path, { keepalive: false })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
    const bytes = await answer.bytes()
    return { path, bytes: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') }
  }
  const [first, ...others] = ENDPOINT_STATUSES
  const [firstFile, ...otherFiles] = FILES
  const bystanders = Made.parse(await call('POST', '/api/v1/endpoints', {}, service.bystanderKey))
  return {
    ...service,
    port: Number(new URL(baseUrl).port),
    endpoints: [await endpointOf(first), ...(await Promise.all(others.map(endpointOf)))],
    files: [await fileOf(firstFile), ...(await Promise.all(otherFiles.map(fileOf)))],
    bystanderPath: `/hook/${bystanders.id}`,
    call,
  }
}
