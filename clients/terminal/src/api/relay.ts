import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { ClientError } from '../clientError.ts'
import { baseUrlOf } from '../connection/connection.ts'
import { configFile, writePrivately } from '../connection/profile.ts'
import type { Environment } from '../tools.ts'
import { jsonOrText } from '../words.ts'
import { ApiClient, ApiProblem } from './apiClient.ts'

/** Timeout of the creation, which may wait in line. */
const CREATION_MS = 60_000
/** Longest answer of a relay that is read, in characters. */
const ANSWER_CHARACTERS_MAX = 10_000

const Given = z.object({
  endpointId: z.uuid(),
  key: z.string().regex(/^creel_live_\w{1,150}$/),
  expiresAt: z.iso.datetime(),
  idleSeconds: z.number().positive(),
})
type Given = z.output<typeof Given>

export interface Relayed {
  readonly api: ApiClient
  readonly endpointId: string
  /** When the endpoint ends at the latest. */
  readonly expiresAt: string
  /** Seconds without use after which it ends earlier. */
  readonly idleSeconds: number
}

/**
 * Asks a relay for an endpoint. The endpoint and its key are stored for the user only, so that a command that is
 * started again before the endpoint ends has the same capture URL.
 *
 * @param url of the relay
 * @throws ClientError when the relay gives none, or the server is no relay
 */
export async function openRelay(url: string, environment: Environment): Promise<Relayed> {
  const base = baseUrlOf(url, '--relay')
  const file = fileOf(base, environment)
  const open = (given: Given): Relayed => ({
    ...given,
    api: new ApiClient({
      url: base,
      key: given.key,
      urlSource: '--relay',
      keySource: file,
      keyStep: 'The endpoint has ended. Run the command again for a new URL.',
    }),
  })
  const stored = await readStored(file)
  if (stored !== undefined) {
    const former = open(stored)
    if (await isLive(former)) return former
  }
  const given = await create(base)
  await writePrivately(file, `${JSON.stringify(given, null, 2)}\n`)
  return open(given)
}

/** The file of a relay's endpoint. */
function fileOf(base: string, environment: Environment): string {
  const name = createHash('sha256').update(base).digest('hex').slice(0, 24)
  return configFile(environment, `relay-${name}.json`)
}

async function readStored(file: string): Promise<Given | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : givenIn(text)
}

const givenIn = (text: string): Given | undefined => Given.safeParse(jsonOrText(text)).data

async function isLive({ api, endpointId }: Relayed): Promise<boolean> {
  try {
    return !(await api.calls.endpoints.get({ endpointId })).expired
  } catch (error) {
    if (error instanceof ApiProblem && ['unauthorized', 'not_found'].includes(error.code)) return false
    throw error
  }
}

const Problem = z.object({ detail: z.string() })

async function create(base: string): Promise<Given> {
  const answer = await fetch(`${base}/relay/endpoints`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
    redirect: 'error',
    signal: AbortSignal.timeout(CREATION_MS),
  }).catch((error: unknown) => {
    throw new ClientError(`${base} cannot be reached: ${error instanceof Error ? error.message : error}`)
  })
  const text = (await answer.text()).slice(0, ANSWER_CHARACTERS_MAX)
  const given = answer.status === 201 ? givenIn(text) : undefined
  if (given !== undefined) return given
  if (answer.status === 429 || answer.status === 503) {
    const wait = answer.headers.get('retry-after')
    const { detail = 'it is busy.' } = Problem.safeParse(jsonOrText(text)).data ?? {}
    throw new ClientError(`${base} gave no endpoint: ${detail}`, [
      `It can be asked again in ${wait ?? '60'} s. An endpoint ends when it is deleted, or not used for some time.`,
    ])
  }
  throw new ClientError(`${base} is not a relay of Creel (status ${answer.status}).`, [
    'For a usual service, give --url and --key, or save them with `creel login`.',
  ])
}
