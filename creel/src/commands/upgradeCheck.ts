import { hasChangedPlans } from '@creel/core'
import { migrationState, STOPS } from '@creel/migrations'
import type { Command } from 'commander'
import { decodeConfig } from '../config/index.ts'
import { connectAsGuest } from '../database/index.ts'
import { createLog } from '../log.ts'
import { VERSION } from '../version.ts'
import { type JsonOption, printJson, printText } from './print.ts'
import type { ProgramParts } from './programParts.ts'

/** What a start of this version would do here. */
interface UpgradeReport {
  readonly version: string
  /** Migrations that would run, in their order; `stop` says why older processes must not go on after it. */
  readonly pending: readonly { readonly name: string; readonly stop: string | null }[]
  /** Migrations of a newer version: this one does not start on the database. */
  readonly unknown: readonly string[]
  /** Whether processes of older versions must be stopped before. */
  readonly needsStop: boolean
  /** Whether limits of plans differ from those of the last start: suspensions are then made or lifted. */
  readonly plansChanged: boolean
  /** Variables that have no effect in this version. */
  readonly settings: readonly string[]
}

/** `creel upgrade-check`: changes nothing. Ends with 1 when this version would not start. */
export function addUpgradeCheckCommand(command: Command, parts: ProgramParts): void {
  command
    .option(
      '--json',
      'print {"version","pending","unknown","needsStop","plansChanged","settings"} on one line',
    )
    .action(async ({ json }: JsonOption) => {
      const report = await reportOf(parts)
      if (report.unknown.length > 0) process.exitCode = 1
      if (json === true) return printJson(report)
      printText(...wordsOf(report))
    })
}

async function reportOf(parts: ProgramParts): Promise<UpgradeReport> {
  // Wrong variables end the command with all of them named, as they would end the start.
  const { config, warnings } = decodeConfig(process.env)
  const log = createLog(config.CREEL_LOG_LEVEL)
  const connected = await connectAsGuest({ config, log, runtime: parts.runtime, maxConnections: 2 })
  try {
    const { db } = connected.database
    const { pending, unknown, isEmpty } = await migrationState(db)
    // An empty database has no older process, and no plans that were applied.
    const named = pending.map((name) => ({ name, stop: isEmpty ? null : (STOPS[name] ?? null) }))
    return {
      version: VERSION,
      pending: named,
      unknown,
      needsStop: named.some(({ stop }) => stop !== null),
      plansChanged: !isEmpty && (await hasChangedPlans({ db, plans: config.plans })),
      settings: warnings,
    }
  } finally {
    await connected.close()
  }
}

function wordsOf({ version, pending, unknown, needsStop, plansChanged, settings }: UpgradeReport): string[] {
  if (unknown.length > 0) {
    return [
      `A newer creel has upgraded this database (${unknown.join(', ')}): ${version} does not start on it.`,
    ]
  }
  const stops = pending.flatMap(({ name, stop }) => (stop === null ? [] : [`  ${name}: ${stop}`]))
  return [
    pending.length === 0
      ? `The database is up to date with ${version}.`
      : `${version} would run ${pending.length} migrations:`,
    ...pending.map(({ name }) => `  ${name}`),
    ...(needsStop
      ? ['Stop every process of an older version before the first of this one starts, because of:', ...stops]
      : ['Processes can be replaced one after the other, without a stop.']),
    ...(plansChanged
      ? [
          'Limits of plans differ from the last start: what is over them is suspended, what has room comes back.',
        ]
      : []),
    ...settings.map((setting) => `Setting: ${setting}.`),
  ]
}
