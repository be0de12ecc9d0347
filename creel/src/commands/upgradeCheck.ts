import { type Db, hasChangedPlans, hasSealedSecrets } from '@creel/core'
import { migrationState, STOPS } from '@creel/migrations'
import { type JsonOption, printJson, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { type Config, configOfOneCell, decodeConfig } from '../config/index.ts'
import { withDatabase } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import type { ProgramParts } from '../programParts.ts'
import { VERSION } from '../version.ts'

/** Effects of starting this version here. */
interface UpgradeReport {
  readonly version: string
  /**
   * Pending migrations, in their order; `stop` is the reason why older processes must be stopped before it, or null.
   */
  readonly pending: readonly { readonly name: string; readonly stop: string | null }[]
  /** Migrations of a newer version, which prevent this one from starting. */
  readonly unknown: readonly string[]
  /** Whether processes of older versions must be stopped first. */
  readonly needsStop: boolean
  /** Whether limits of plans differ from those of the last start, which makes or lifts suspensions. */
  readonly plansChanged: boolean
  /** Variables that have no effect in this version. */
  readonly settings: readonly string[]
}

/** `creel upgrade-check`: changes nothing. Exit code 1 when this version would not start. */
export function addUpgradeCheckCommand(command: Command, parts: ProgramParts): void {
  command
    .option(
      '--json',
      'print {"version","pending","unknown","needsStop","plansChanged","settings"} on one line',
    )
    .action(async ({ json }: JsonOption) => {
      // Invalid variables end the command with a list of all of them, like a start.
      const { config: ofAll, warnings } = decodeConfig(await environmentBesideService(process.env))
      const config = configOfOneCell(ofAll)
      const report = await withDatabase(config, parts, (db) => reportOf(db, config, warnings))
      if (report.unknown.length > 0) process.exitCode = 1
      if (json === true) return printJson(report)
      printText(...wordsOf(report))
    })
}

async function reportOf(db: Db, { plans }: Config, settings: readonly string[]): Promise<UpgradeReport> {
  const { pending, unknown, isEmpty } = await migrationState(db)
  // An empty database has no older processes, and no plans were applied to one that no service has used.
  const isUsed = pending.length > 0 ? !isEmpty : await hasSealedSecrets(db)
  const named = pending.map((name) => ({ name, stop: isEmpty ? null : (STOPS[name] ?? null) }))
  return {
    version: VERSION,
    pending: named,
    unknown,
    needsStop: named.some(({ stop }) => stop !== null),
    plansChanged: isUsed && (await hasChangedPlans({ db, plans })),
    settings,
  }
}

function wordsOf({ version, pending, unknown, needsStop, plansChanged, settings }: UpgradeReport): string[] {
  if (unknown.length > 0) {
    return [
      `A newer version of creel has migrated this database (${unknown.join(', ')}): ${version} does not start on it.`,
    ]
  }
  const stops = pending.flatMap(({ name, stop }) => (stop === null ? [] : [`  ${name}: ${stop}`]))
  return [
    pending.length === 0
      ? `The database is up to date with ${version}.`
      : `${version} would run ${pending.length} migrations:`,
    ...pending.map(({ name }) => `  ${name}`),
    ...(needsStop
      ? ['Stop all processes of older versions before you start this one, because of:', ...stops]
      : ['Replace the processes one after the other; the service stays up.']),
    ...(plansChanged
      ? [
          'Plan limits changed since the last start. What exceeds them is suspended; what fits again is resumed.',
        ]
      : []),
    ...settings.map((setting) => `Setting: ${setting}.`),
  ]
}
