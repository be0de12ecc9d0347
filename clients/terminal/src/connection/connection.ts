import { ClientError, usageError } from '../clientError.ts'
import { printHint } from '../output/print.ts'
import type { Environment, LocalService, TerminalTools } from '../tools.ts'
import { readProfile } from './profile.ts'

export interface ConnectionOptions {
  readonly url?: string
  readonly key?: string
}

/** The service and the key of a command, and their sources. */
export interface Connection {
  /** Without a trailing slash. */
  readonly url: string
  readonly key: string
  /** Source as text: `--url`, `CREEL_URL`, the file of the profile, or that of the data folder. */
  readonly urlSource: string
  readonly keySource: string
  /** The endpoint that `CREEL_ENDPOINT` names, for commands that name none. */
  readonly endpoint?: string
  /** Creates a new key when the current one is refused; only for a local service. */
  readonly renewKey?: () => Promise<string>
  /** What helps when the key is refused; by default, to save another one. */
  readonly keyStep?: string
  /** The data folder of the local service that the key belongs to. */
  readonly dataDir?: string
}

/** Inputs of `resolveConnection`, in addition to the command's options. */
export interface Surroundings {
  readonly environment: Environment
  readonly tools: TerminalTools
}

/** No service is named, and no service of the user runs on this machine. */
export class NoService extends ClientError {}

/**
 * Finds the service and the key. Options take precedence over `CREEL_URL` and `CREEL_KEY`, these over the profile of
 * `creel login`, and that over a service that runs on this machine. A stored key is used only for the service that it
 * was stored for.
 *
 * @throws NoService when no service is found, ClientError when there is no key, or an option is empty
 */
export async function resolveConnection(
  options: ConnectionOptions,
  { environment, tools }: Surroundings,
): Promise<Connection> {
  if (options.url?.trim() === '') throw usageError('--url is empty.')
  if (options.key?.trim() === '') throw usageError('--key is empty.')
  const profile = await readProfile(environment)
  const key = firstOf([options.key, '--key'], [environment.CREEL_KEY, 'the variable CREEL_KEY'])
  const named = firstOf(
    [options.url, '--url'],
    [environment.CREEL_URL, 'the variable CREEL_URL'],
    [profile?.url, profile?.file],
  )
  const namedTarget =
    named === undefined ? undefined : { url: baseUrlOf(named.value, named.source), urlSource: named.source }

  if (namedTarget !== undefined && key !== undefined) {
    return { ...namedTarget, key: key.value, keySource: key.source }
  }
  if (namedTarget !== undefined && profile !== undefined && profile.url === namedTarget.url) {
    return { ...namedTarget, key: profile.key, keySource: profile.file }
  }
  const local = await localServiceAt(namedTarget?.url, { environment, tools })
  if (local !== undefined) {
    const target = namedTarget ?? { url: local.url, urlSource: local.file }
    if (key !== undefined) return { ...target, key: key.value, keySource: key.source }
    const kept = await tools.keptKey(local.dataDir)
    const renewKey = () => tools.renewLocalKey(local.dataDir)
    const made = { key: kept.key ?? (await renewKey()), keySource: kept.file }
    return { ...target, ...made, renewKey, dataDir: local.dataDir }
  }
  if (namedTarget === undefined) throw noService(tools.ownDataFolder(environment))
  throw new ClientError(`The API key for ${namedTarget.url} (from ${namedTarget.urlSource}) is missing.`, [
    'Give one with --key or CREEL_KEY, or save one with `creel login`.',
  ])
}

/** The local service with this address, or the first one. If several run, a hint on stderr names the chosen one. */
async function localServiceAt(
  url: string | undefined,
  { environment, tools }: Surroundings,
): Promise<LocalService | undefined> {
  let first: LocalService | undefined
  for await (const service of tools.localServices(environment)) {
    if (url !== undefined) {
      if (service.url === url) return service
    } else if (first === undefined) first = service
    else {
      printHint(
        `Several services of yours run. This is ${first.url}, data folder ${first.dataDir}. --url or CREEL_URL names another.`,
      )
      return first
    }
  }
  return first
}

function noService(dataDir: string): NoService {
  return new NoService('No service of yours runs on this machine.', [
    `Start one with \`creel\`, or with \`creel serve\` on the data folder ${dataDir},`,
    'or log in to one elsewhere: `creel login --url https://creel.example.com --key creel_live_…`.',
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
 * Normalizes the base address of a service: accepts `127.0.0.1:4400`, or a path and trailing slashes.
 *
 * @throws ClientError when it is not an http address
 */
export function baseUrlOf(text: string, source: string): string {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(url) || /^\w+:\/\/$/.test(url)) {
    throw usageError(
      `"${text}" (from ${source}) is not an http or https URL.`,
      'Write it like http://127.0.0.1:4400.',
    )
  }
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`.replace(/\/+$/, '')
}
