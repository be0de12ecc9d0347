import { statfs } from 'node:fs/promises'
import { checkSecretKey, createSecretBox, type Db, hasSealedSecrets } from '@creel/core'
import { migrationState } from '@creel/migrations'
import { EXIT } from '@creel/terminal/exitCodes'
import { type JsonOption, printJson, printTable } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { type Config, configOfOneCell, decodeConfig } from '../config/index.ts'
import { withDatabase } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { type Check, check, databaseChecks } from '../doctor/databaseChecks.ts'
import { longRetention } from '../longRetention.ts'
import type { ProgramParts } from '../programParts.ts'
import { secretKeysOf } from '../secretKey.ts'
import { localAddress } from '../serviceFile.ts'
import { wordsOf } from '../startupError.ts'
import { VERSION } from '../version.ts'

/** `creel doctor`: changes nothing. Ends with 1 when a check failed. */
export function addDoctorCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--json', 'print {"version","checks":[{"name","level","found","change"}]} on one line')
    .action(async ({ json }: JsonOption) => {
      const { config: ofAll, warnings } = decodeConfig(await environmentBesideService(process.env))
      const config = configOfOneCell(ofAll)
      const checks = [
        ...warnings.map((warning) => check('configuration', 'warning', warning, 'Correct it or remove it.')),
        ...(await withDatabase(config, parts, async (db) => [
          ...(await databaseChecks(db, config.DATABASE_URL === undefined)),
          ...(await secretKeyCheck(config, db)),
        ])),
        retentionCheck(config),
        ...(await diskCheck(config)),
        ...(await addressChecks(await addressesOf(config))),
      ]
      if (checks.some(({ level }) => level === 'failure')) process.exitCode = EXIT.failed
      if (json === true) return printJson({ version: VERSION, checks })
      printTable<Check>(checks, {
        CHECK: ({ name }) => name,
        RESULT: ({ level }) => level,
        FOUND: ({ found }) => found,
        CHANGE: ({ change }) => change ?? '',
      })
    })
}

/** Checks the key as a start does. Nothing is sealed before the first one, and a check makes no key. */
async function secretKeyCheck(config: Config, db: Db): Promise<Check[]> {
  if ((await migrationState(db)).pending.length > 0 || !(await hasSealedSecrets(db))) return []
  try {
    await checkSecretKey(db, createSecretBox(await secretKeysOf(config, db)))
    return [check('secret key', 'ok', 'opens the stored secrets')]
  } catch (error) {
    return [check('secret key', 'failure', wordsOf(error), 'Give the service the key of this database.')]
  }
}

/** Says for how long the plan of new workspaces keeps captures. */
function retentionCheck({ plans, CREEL_DEFAULT_PLAN: key }: Config): Check {
  const { retentionDays } = plans[key].limits
  const long = longRetention(key, retentionDays)
  if (long === null)
    return check('retention', 'ok', `captures are kept for ${retentionDays} days (plan ${key})`)
  return check('retention', 'ok', long.found, long.change)
}

/** The addresses that the service gives out, by the variables that set them. */
async function addressesOf(config: Config): Promise<Record<string, string>> {
  const base = config.CREEL_BASE_URL ?? (await localAddress(config))
  const capture = config.CREEL_CAPTURE_URL ?? base
  return { CREEL_BASE_URL: base, ...(capture === base ? {} : { CREEL_CAPTURE_URL: capture }) }
}

const ANSWER_SECONDS_MAX = 5
const GIB = 1024 ** 3
const FREE_SHARE_MIN = 0.1
const FREE_BYTES_MIN = GIB

/** Checks the room on the disk of the data folder. A database elsewhere has a disk that cannot be seen from here. */
async function diskCheck(config: Config): Promise<Check[]> {
  if (config.DATABASE_URL !== undefined) return []
  const { bavail, blocks, bsize } = await statfs(config.CREEL_DATA_DIR)
  const [free, all] = [bavail * bsize, blocks * bsize]
  const found = `${(free / GIB).toFixed(1)} GB of ${(all / GIB).toFixed(1)} GB are free`
  const isFine = free >= FREE_BYTES_MIN && free >= all * FREE_SHARE_MIN
  return [
    isFine
      ? check('disk', 'ok', found)
      : check(
          'disk',
          free < FREE_BYTES_MIN ? 'failure' : 'warning',
          found,
          'Free some space, or set a lower CREEL_STORAGE_MAX.',
        ),
  ]
}

/** Checks that the service answers under the addresses that it gives to people and senders. */
async function addressChecks(addresses: Readonly<Record<string, string>>): Promise<Check[]> {
  return await Promise.all(
    Object.entries(addresses).map(async ([name, address]) => {
      const url = new URL('/healthz', address).href
      const problem = await answerOf(url)
      return problem === undefined
        ? check(name, 'ok', address)
        : check(
            name,
            'failure',
            `${url} does not reach Creel: ${problem}`,
            `Start the service, or correct ${name} or the proxy in front of it.`,
          )
    }),
  )
}

/** Why the answer is not that of a healthy Creel; undefined when it is. */
async function answerOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000) })
    const body = await response.text()
    return response.ok && body.includes('"ok"') ? undefined : `status ${response.status}`
  } catch (error) {
    return wordsOf(error)
  }
}
