import { EXIT } from '@creel/terminal/exitCodes'
import { type JsonOption, printJson, printTable } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { type Config, decodeConfig } from '../config/index.ts'
import { withDatabase } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { type Check, check } from '../doctor/check.ts'
import { databaseChecks } from '../doctor/databaseChecks.ts'
import { addressChecks, diskCheck } from '../doctor/surroundings.ts'
import { longRetention } from '../longRetention.ts'
import type { ProgramParts } from '../programParts.ts'
import { hostInUrl, runningAddress } from '../serviceFile.ts'

import { VERSION } from '../version.ts'

/** `creel doctor`: changes nothing. Ends with 1 when a check failed. */
export function addDoctorCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--json', 'print {"version","checks":[{"name","level","found","change"}]} on one line')
    .action(async ({ json }: JsonOption) => {
      const { config, warnings } = decodeConfig(await environmentBesideService(process.env))
      const checks = [
        ...warnings.map((warning) => check('configuration', 'warning', warning, 'Correct it or remove it.')),
        ...(await withDatabase(config, parts, (db) => databaseChecks(db, config.DATABASE_URL === undefined))),
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
  const base =
    config.CREEL_BASE_URL ??
    (await runningAddress(config)) ??
    `http://${hostInUrl(config.CREEL_HOST)}:${config.CREEL_PORT}`
  const capture = config.CREEL_CAPTURE_URL ?? base
  return { CREEL_BASE_URL: base, ...(capture === base ? {} : { CREEL_CAPTURE_URL: capture }) }
}
