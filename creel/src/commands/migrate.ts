import { migrate } from '@creel/migrations'
import { type JsonOption, printJson, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { configsOfCells, decodeConfig } from '../config/index.ts'
import { refuseNewerSchema, withDatabase, withRights } from '../database/index.ts'
import type { ProgramParts } from '../programParts.ts'
import { StartupError } from '../startupError.ts'

interface MigrateOptions extends JsonOption {
  readonly all?: true
}

export function addMigrateCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--all', 'every cell: the first one, then the others')
    .option('--json', 'print {"applied":[…]} on one line')
    .action(async ({ all, json }: MigrateOptions) => {
      const configs = configsOfCells(decodeConfig(process.env).config)
      if (configs.length > 1 && all !== true) {
        throw new StartupError(
          `There are ${configs.length} cells: migrate all of them with --all, or one with --cell <name>.`,
        )
      }
      const applied: string[] = []
      // A migration that fails on the first cell leaves the others as they were.
      for (const config of configs) {
        const ofCell = await withDatabase(config, parts, async (db) => {
          await refuseNewerSchema(db)
          return await withRights(db, () => migrate(db))
        })
        applied.push(...ofCell.map((name) => (config.cell === null ? name : `${config.cell.name}: ${name}`)))
      }
      if (json === true) return printJson({ applied })
      const whole = configs.length > 1 ? 'All cells are' : 'The database is'
      if (applied.length === 0) return printText(`${whole} up to date.`)
      printText('Applied:', ...applied.map((name) => `  ${name}`))
    })
}
