import { resolve } from 'node:path'
import { isRetrySchedule, RETRY_DELAYS_SECONDS, retryDelaysOf } from '@creel/core/deliveries'
import { PLAN_KEYS } from '@creel/core/plans'
import { databaseUrlMistake } from '@creel/core/platform/db'
import { parseAllowList } from '@creel/core/platform/outbound'
import { z } from 'zod'

/** The values of `CREEL_LOG_LEVEL`, most severe first; `silent` logs nothing. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** The parts of a comma-separated list, without blanks. */
const List = z.string().transform((text) => text.split(',').flatMap((part) => part.trim() || []))

const Port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number, 0-65535')
  .transform(Number)
  .refine((port) => port <= 65_535, 'must be a port number, 0-65535')

const Count = z
  .string()
  .regex(/^[1-9]\d{0,6}$/, 'must be a number from 1 to 9999999')
  .transform(Number)

const PoolSize = (min: number) =>
  z
    .string()
    .regex(/^\d{1,3}$/, `must be a number from ${min} to 999`)
    .transform(Number)
    .refine((count) => count >= min, `must be a number from ${min} to 999`)

/** URL of one server, or of several with a known `target_session_attrs`. */
const DatabaseUrl = z.string().superRefine((url, context) => {
  const message = databaseUrlMistake(url)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

const PublicUrl = z
  .string()
  .refine(isPublicUrl, 'must be an http or https URL without query, fragment and credentials')
  .transform((url) => url.replace(/\/+$/, ''))

/** 32 bytes in base64, of either alphabet. */
const SecretKey = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]{43}=?$/, 'must be 32 bytes in base64, e.g. from `openssl rand -base64 32`')
  .transform((text) => Buffer.from(text, 'base64'))

const BYTE_UNITS = ['', 'K', 'M', 'G', 'T']

/** `off`, or bytes: `50GB` (decimal), `50GiB` (binary), `1073741824`. */
const StorageMax = z
  .string()
  .regex(/^(off|\d{1,15}(\.\d{1,3})?\s*([KMGT]i?)?B?)$/i, 'must be a size like 50GB or 512MiB, or off')
  .transform((text) => (text.toLowerCase() === 'off' ? ('off' as const) : bytesOf(text)))

function bytesOf(text: string): number {
  const [, number = '', unit = '', binary] = /^([\d.]+)\s*([KMGT]?)(i?)B?$/i.exec(text) ?? []
  return Math.floor(Number(number) * (binary ? 1024 : 1000) ** BYTE_UNITS.indexOf(unit.toUpperCase()))
}

/** `telegram=https://bots.example.com` → the name and its base address. */
function apiUrlOf(entry: string): [name: string, baseUrl: string] {
  const at = entry.indexOf('=')
  return [entry.slice(0, at), entry.slice(at + 1).replace(/\/+$/, '')]
}

/** Base addresses of APIs by the names that may have one. */
const ApiUrls = (names: readonly string[], noun: string) =>
  List.superRefine(
    eachOf(
      (entry) => {
        const [name, baseUrl] = apiUrlOf(entry)
        return names.includes(name) && isPublicUrl(baseUrl)
      },
      `<${noun}>=<http or https URL>, ${noun} being one of ${names.join(', ')}`,
    ),
  )
    .transform((entries) => Object.fromEntries(entries.map(apiUrlOf)))
    .default({})

const Network = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()])

/**
 * Every environment variable that the program reads, with its parser. An empty variable counts as absent. Messages
 * complete the sentence "<variable> …" and never quote the value, which may be a secret.
 */
export const Variables = z.object({
  DATABASE_URL: DatabaseUrl.optional(),
  CREEL_DATABASE_READ_URL: DatabaseUrl.optional(),
  CREEL_CELLS_FILE: z
    .string()
    .transform((file) => resolve(file))
    .optional(),
  CREEL_CELL: z.string().optional(),
  CREEL_DATA_DIR: z
    .string()
    .default('.creel')
    .transform((folder) => resolve(folder)),
  CREEL_HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, 'must be an address or host name, without port')
    .default('127.0.0.1'),
  CREEL_PORT: Port.default(4400),
  CREEL_BASE_URL: PublicUrl.optional(),
  CREEL_CAPTURE_URL: PublicUrl.optional(),
  CREEL_SECRET_KEY: SecretKey.optional(),
  CREEL_SECRET_KEYS: List.transform((texts, context): [Buffer, ...Buffer[]] => {
    const [newest, ...others] = texts.map((text) => SecretKey.safeParse(text).data)
    const former = others.flatMap((key) => key ?? [])
    if (newest !== undefined && former.length === others.length) return [newest, ...former]
    context.addIssue({
      code: 'custom',
      message: 'must be keys of 32 bytes in base64, separated by commas, newest first',
    })
    return z.NEVER
  }).optional(),
  CREEL_ALLOW_DESTINATIONS: List.superRefine(
    eachOf(isDestination, 'a CIDR, an address or a host name'),
  ).default([]),
  CREEL_TRUSTED_PROXIES: List.superRefine(
    eachOf((entry) => Network.safeParse(entry).success, 'a CIDR or an address'),
  ).default([]),
  CREEL_PLANS_FILE: z
    .string()
    .transform((file) => resolve(file))
    .optional(),
  CREEL_DEFAULT_PLAN: z.enum(PLAN_KEYS, `must be one of ${PLAN_KEYS.join(', ')}`).default('self-hosted'),
  CREEL_STORAGE_MAX: StorageMax.optional(),
  CREEL_FORMER_HOSTS: List.superRefine(
    eachOf((entry) => /^[A-Za-z0-9._-]+(:\d{1,5})?$/.test(entry), 'a host name'),
  ).default([]),
  CREEL_SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/./, 'must start with smtp:// or smtps://')
    .optional(),
  CREEL_MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s@]+@[^\s@]+$/, 'must be a mail address')
    .optional(),
  CREEL_ALERT_API_URLS: ApiUrls(['telegram', 'pagerduty', 'opsgenie'], 'kind'),
  CREEL_PROVIDER_API_URLS: ApiUrls(['stripe', 'github'], 'provider'),
  CREEL_RETRY_SCHEDULE: z
    .string()
    .refine(isRetrySchedule, 'must be 1 to 50 durations, each over 0 and at most 30d, like 5s,5m,30m,2h')
    .transform(retryDelaysOf)
    .default([...RETRY_DELAYS_SECONDS]),
  CREEL_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  CREEL_METRICS_PORT: Port.optional(),
  CREEL_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,}$/, 'must be at least 16 visible ASCII characters')
    .optional(),
  CREEL_AUDIT_RETENTION_DAYS: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, 'must be a number of days from 1 to 9999')
    .transform(Number)
    .default(365),
  CREEL_CONSOLE: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CREEL_OAUTH: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CREEL_DISPATCH: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CREEL_DATABASE_CONNECTIONS: PoolSize(4).default(16),
  CREEL_QUEUE_CONNECTIONS: PoolSize(2).default(6),
  CREEL_GATEWAYS: z
    .string()
    .regex(/^([1-9]|1[0-6])$/, 'must be a number from 1 to 16')
    .transform(Number)
    .optional(),
  CREEL_CONNECTIONS_MAX: Count.optional(),
  CREEL_CONNECTIONS_PER_ADDRESS: Count.default(2000),
})

/** The name of a variable that configures the service. */
export type VariableName = keyof typeof Variables.shape

/** Every variable that configures the service, in the order of their declaration. */
export const VARIABLE_NAMES = Variables.keyof().options

/** Variables that may hold a secret: each can be read from the file that `<name>_FILE` names. */
export const SECRET_NAMES = [
  'DATABASE_URL',
  'CREEL_DATABASE_READ_URL',
  'CREEL_SECRET_KEY',
  'CREEL_SECRET_KEYS',
  'CREEL_SMTP_URL',
  'CREEL_METRICS_TOKEN',
] as const satisfies readonly VariableName[]

/** Variables of developers' commands; the service ignores them without a warning. */
export const CLIENT_VARIABLES = ['CREEL_URL', 'CREEL_KEY', 'CREEL_ENDPOINT', 'CREEL_RECONCILE_KEY'] as const

function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, search, hash, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && search + hash + username + password === ''
}

type Refinement = (entries: string[], context: z.core.$RefinementCtx<string[]>) => void

function eachOf(isReadable: (entry: string) => boolean, words: string): Refinement {
  return (entries, context) => {
    for (const entry of entries) {
      if (!isReadable(entry))
        context.addIssue({ code: 'custom', message: `holds "${entry}", which is not ${words}` })
    }
  }
}

function isDestination(entry: string): boolean {
  try {
    parseAllowList([entry])
    return true
  } catch {
    return false
  }
}
