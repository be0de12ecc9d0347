import { resolve } from 'node:path'
import type { ProgramParts } from '../../commands/programParts.ts'
import { ClientError, usageError } from '../clientError.ts'
import { keptKey, localServiceUrl, renewLocalKey } from './localService.ts'
import { readProfile } from './profile.ts'

/** The options of every command that calls the API. */
export interface ConnectionOptions {
  readonly url?: string
  readonly key?: string
}

/** Which service a command calls, with which key, and where each of the two was found. */
export interface Connection {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string
  /** In words: `--url`, `CREEL_URL`, the file of the profile, or that of the data folder. */
  readonly urlSource: string
  readonly keySource: string
  /** Makes another key where the present one is refused; only beside a local service. */
  readonly renewKey?: () => Promise<string>
}

/** What `resolveConnection` looks at besides the options. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly parts: ProgramParts
}

/**
 * Finds the service and the key: options win over `CREEL_URL` and `CREEL_KEY`, these over the profile of `creel login`, and
 * that over the data folder of a local service. A kept key is used for the service that it was kept for, and no other.
 *
 * @throws ClientError when there is no service or no key to be found
 */
export async function resolveConnection(
  options: ConnectionOptions,
  { environment, parts }: Surroundings,
): Promise<Connection> {
  const profile = await readProfile(environment)
  const dataDir = resolve(given(environment.CREEL_DATA_DIR) ?? '.creel')
  const local = await localServiceUrl(dataDir)
  const key = firstOf([options.key, '--key'], [environment.CREEL_KEY, 'the variable CREEL_KEY'])
  const url =
    firstOf(
      [options.url, '--url'],
      [environment.CREEL_URL, 'the variable CREEL_URL'],
      [profile?.url, profile?.file],
    ) ?? (local === undefined ? undefined : { value: local.url, source: local.file })
  if (url === undefined) throw noService(dataDir)
  const target = { url: baseUrlOf(url.value, url.source), urlSource: url.source }

  if (key !== undefined) return { ...target, key: key.value, keySource: key.source }
  if (profile !== undefined && profile.url === target.url) {
    return { ...target, key: profile.key, keySource: profile.file }
  }
  if (local !== undefined && local.url === target.url) {
    const kept = await keptKey(dataDir)
    const renewKey = () => renewLocalKey(dataDir, parts)
    return { ...target, key: kept.key ?? (await renewKey()), keySource: kept.file, renewKey }
  }
  throw new ClientError(`There is no API key for ${target.url} (from ${url.source}).`, [
    'Give one with --key or CREEL_KEY, or keep one with `creel login`.',
  ])
}

function noService(dataDir: string): ClientError {
  return new ClientError('There is no service to talk to.', [
    `Start one here with \`creel serve\` (none runs on the data folder ${dataDir}),`,
    'or name one: `creel login --url https://creel.example.com --key creel_live_…`.',
  ])
}

const given = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.trim()

function firstOf(
  ...places: readonly (readonly [value: string | undefined, source: string | undefined])[]
): { readonly value: string; readonly source: string } | undefined {
  for (const [text, source = ''] of places) {
    const value = given(text)
    if (value !== undefined) return { value, source }
  }
  return undefined
}

/**
 * The base address of a service as somebody wrote it: `127.0.0.1:4400`, or with path and slash.
 *
 * @throws ClientError when it is no http address
 */
export function baseUrlOf(text: string, source: string): string {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(url) || /^\w+:\/\/$/.test(url)) {
    throw usageError(
      `"${text}" (from ${source}) is not the address of a service.`,
      'Write it like http://127.0.0.1:4400.',
    )
  }
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`.replace(/\/+$/, '')
}
