import { readFileSync } from 'node:fs'
import { overridePlans, PLANS, type Plans } from '@creel/core'
import { type Cell, CellsFileError, parseCells } from '@creel/core/cells'
import { retryScheduleText } from '@creel/core/deliveries'
import type { Limits } from '@creel/core/plans'
import { serverUrls } from '@creel/core/platform/db'
import type { MailerOptions } from '@creel/core/platform/mail'
import type { Environment } from '@creel/terminal/tools'
import { z } from 'zod'
import { CLIENT_VARIABLES, SECRET_NAMES, VARIABLE_NAMES, type VariableName, Variables } from './variables.ts'

type Values = z.infer<typeof Variables>

/** Configuration of the program, decoded once at start. */
export interface Config extends Values {
  /** The shipped plans, overridden by the numbers of `CREEL_PLANS_FILE`. */
  readonly plans: Plans
  /** The cells of the installation, in the order of `CREEL_CELLS_FILE`; empty without one. */
  readonly cells: readonly Cell[]
  /** The cell that `DATABASE_URL` is; null in an installation without cells. */
  readonly cell: Cell | null
}

/** The environment is invalid; every invalid variable is named. The exit code is 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  /** @param mistakes one sentence each, starting with the variable's name */
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('\n'))
  }
}

/** Decoded configuration, and warnings about the environment. */
export interface Decoded {
  readonly config: Config
  readonly warnings: readonly string[]
}

/**
 * Decodes the environment. Absent and empty variables take their defaults.
 *
 * @throws ConfigError naming every invalid variable at once
 */
export function decodeConfig(environment: Environment): Decoded {
  const mistakes: string[] = []
  const files = readSecretFiles(environment, mistakes)
  const given = Object.fromEntries(
    VARIABLE_NAMES.flatMap((name) => {
      const value = environment[name]?.trim() || files.get(name)
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
  const values = Variables.safeParse(given)
  if (!values.success)
    mistakes.push(...values.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`))

  // Checked even if other variables are invalid, so that one start names them all.
  if (given.CREEL_SECRET_KEY !== undefined && given.CREEL_SECRET_KEYS !== undefined) {
    mistakes.push('CREEL_SECRET_KEYS replaces CREEL_SECRET_KEY: set only one of them')
  }
  const hasKey = given.CREEL_SECRET_KEY !== undefined || given.CREEL_SECRET_KEYS !== undefined
  const needsKey = (['DATABASE_URL', 'CREEL_CELLS_FILE'] as const).find((name) => given[name] !== undefined)
  if (needsKey !== undefined && !hasKey) {
    mistakes.push(
      `CREEL_SECRET_KEY is required with ${needsKey}: create one with \`openssl rand -base64 32\`, and keep a copy`,
    )
  }
  if (given.CREEL_DATABASE_READ_URL !== undefined && given.DATABASE_URL === undefined) {
    mistakes.push('CREEL_DATABASE_READ_URL needs DATABASE_URL: the embedded PostgreSQL has no replica')
  }
  const plans = readPlans(given.CREEL_PLANS_FILE, mistakes)
  const cells = readCells(given, mistakes)
  const ofCells = cells.flatMap(({ name, databaseUrl, readUrl }) => [
    [`databaseUrl of cell ${name}`, databaseUrl] as const,
    [`readUrl of cell ${name}`, readUrl] as const,
  ])
  const { DATABASE_URL, CREEL_DATABASE_READ_URL } = given
  mistakes.push(
    ...[...Object.entries({ DATABASE_URL, CREEL_DATABASE_READ_URL }), ...ofCells].flatMap(([name, url]) =>
      unreadableFiles(name, url ?? ''),
    ),
  )

  if (!values.success || mistakes.length > 0) throw new ConfigError(mistakes)
  const config = { ...values.data, plans, cells, cell: null }
  const [cell] = chosenCells(config)
  return {
    config: cell === undefined ? config : configOf(config, cell),
    warnings: unknownVariables(environment),
  }
}

/** The configuration of one cell: its database takes the place of `DATABASE_URL`. */
function configOf(config: Config, cell: Cell): Config {
  return {
    ...config,
    DATABASE_URL: cell.databaseUrl,
    CREEL_DATABASE_READ_URL: cell.readUrl ?? undefined,
    cell,
  }
}

/** The configurations of the cells that a command is for, in the order of the file; without cells, the only one. */
export function configsOfCells(config: Config): readonly [Config, ...Config[]] {
  const [first, ...others] = chosenCells(config).map((cell) => configOf(config, cell))
  return first === undefined ? [config] : [first, ...others]
}

/**
 * The configuration of a command that is for one database.
 *
 * @throws ConfigError when there are several cells and none is named
 */
export function configOfOneCell(config: Config): Config {
  const [first, ...others] = configsOfCells(config)
  if (others.length === 0) return first
  throw new ConfigError([`There are ${others.length + 1} cells: name one with --cell <name>`])
}

function chosenCells({ cells, CREEL_CELL }: Config): readonly Cell[] {
  return CREEL_CELL === undefined ? cells : cells.filter(({ name }) => name === CREEL_CELL)
}

function readCells(given: Readonly<Partial<Record<string, string>>>, mistakes: string[]): readonly Cell[] {
  const { CREEL_CELLS_FILE: file, CREEL_CELL: name } = given
  if (file === undefined) {
    if (name !== undefined) mistakes.push('CREEL_CELL needs CREEL_CELLS_FILE')
    return []
  }
  for (const other of ['DATABASE_URL', 'CREEL_DATABASE_READ_URL']) {
    if (given[other] !== undefined) mistakes.push(`CREEL_CELLS_FILE replaces ${other}: set only one of them`)
  }
  try {
    const cells = parseCells(readFileSync(file, 'utf8'))
    if (name !== undefined && !cells.some((cell) => cell.name === name)) {
      mistakes.push(`CREEL_CELL must be one of ${cells.map((cell) => cell.name).join(', ')}`)
    }
    return cells
  } catch (error) {
    if (error instanceof CellsFileError) {
      mistakes.push(...error.mistakes.map((mistake) => `CREEL_CELLS_FILE ${file}: ${mistake}`))
    } else {
      mistakes.push(
        `CREEL_CELLS_FILE ${file} cannot be read: ${error instanceof Error ? error.message : error}`,
      )
    }
    return []
  }
}

/** Contents of the files that `<name>_FILE` variables name, by the name of the variable. */
function readSecretFiles(environment: Environment, mistakes: string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const name of SECRET_NAMES) {
    const file = environment[`${name}_FILE`]?.trim() ?? ''
    if (file === '') continue
    if ((environment[name]?.trim() ?? '') !== '') {
      mistakes.push(`${name}_FILE replaces ${name}: set only one of them`)
      continue
    }
    try {
      const text = readFileSync(file, 'utf8').trim()
      if (text === '') mistakes.push(`${name}_FILE ${file} is empty`)
      else texts.set(name, text)
    } catch (error) {
      mistakes.push(`${name}_FILE ${file} cannot be read: ${error instanceof Error ? error.message : error}`)
    }
  }
  return texts
}

/** Messages about unreadable files in the URL of a database. The driver would read the files for each connection. */
function unreadableFiles(name: string, url: string): string[] {
  const [text = ''] = serverUrls(url)
  const query = URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams()
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((parameter) => {
    const file = query.get(parameter)
    if (file === null) return []
    try {
      readFileSync(file)
      return []
    } catch (error) {
      const reason = error instanceof Error ? error.message : error
      return [`${name} names a file in ${parameter} that cannot be read: ${reason}`]
    }
  })
}

function readPlans(file: string | undefined, mistakes: string[]): Plans {
  if (file === undefined) return PLANS
  try {
    return overridePlans(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof z.ZodError) {
      for (const { path, message } of error.issues) {
        mistakes.push(`CREEL_PLANS_FILE ${file}: ${[...path.map(String), message].join(': ')}`)
      }
    } else {
      mistakes.push(
        `CREEL_PLANS_FILE ${file} cannot be read: ${error instanceof Error ? error.message : error}`,
      )
    }
    return PLANS
  }
}

/** Warnings about unknown variables, which are likely misspelt and would be ignored silently. */
function unknownVariables(environment: Environment): string[] {
  const files = SECRET_NAMES.map((name) => `${name}_FILE`)
  const known: readonly string[] = [...VARIABLE_NAMES, ...files, ...CLIENT_VARIABLES]
  return Object.keys(environment)
    .filter((name) => name.startsWith('CREEL_') && !known.includes(name))
    .map((name) => `${name} is not a variable of creel and has no effect`)
}

/** The configured settings for alert mail. */
export function mailOptions({ CREEL_SMTP_URL, CREEL_MAIL_FROM }: Config): MailerOptions {
  return { smtpUrl: CREEL_SMTP_URL, from: CREEL_MAIL_FROM }
}

/** Masks for variables that may hold secrets. */
const MASKS: { readonly [Name in VariableName]?: (value: string) => string } = {
  DATABASE_URL: withoutPassword,
  CREEL_DATABASE_READ_URL: withoutPassword,
  CREEL_SECRET_KEY: () => '***',
  CREEL_SECRET_KEYS: () => '***',
  CREEL_SMTP_URL: withoutPassword,
  CREEL_METRICS_TOKEN: () => '***',
}

/** A configuration that is safe to print: secrets are masked, absent variables null. */
interface MaskedConfig {
  readonly variables: Readonly<Record<string, unknown>>
  readonly plans: Readonly<Record<string, Limits>>
}

/**
 * Every variable with its effective value, in the form that its parser accepts, secrets masked; absent ones are null.
 */
export function maskedConfig(config: Config): MaskedConfig {
  const shown = VARIABLE_NAMES.map((name) => {
    const value = name === 'CREEL_RETRY_SCHEDULE' ? retryScheduleText(config[name]) : (config[name] ?? null)
    return [name, value === null ? null : (MASKS[name]?.(String(value)) ?? value)]
  })
  const plans = Object.entries(config.plans).map(([key, { limits }]) => [key, limits])
  return { variables: Object.fromEntries(shown), plans: Object.fromEntries(plans) }
}

/** Credentials are before the `@`, or in the query (`?password=…`). A text that is not a URL is masked completely. */
function withoutPassword(text: string): string {
  const urls = serverUrls(text)
  if (!urls.every((url) => URL.canParse(url))) return '***'
  const [parsed = new URL(text), ...others] = urls.map((url) => new URL(url))
  if (parsed.password !== '') parsed.password = '***'
  for (const name of [...parsed.searchParams.keys()]) {
    if (/pass|secret|key|token/i.test(name)) parsed.searchParams.set(name, '***')
  }
  const hosts = [parsed, ...others].map(({ host }) => host)
  return parsed.href.replace(parsed.host, hosts.join())
}
