import { migrate } from '@creel/migrations'
import { type JsonOption, printJson, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { decodeConfig } from '../config/index.ts'
import { connectAsGuest } from '../database/index.ts'
import { createLog } from '../log.ts'
import type { ProgramParts } from './programParts.ts'

/** `creel migrate` */
export function addMigrateCommand(command: Command, parts: ProgramParts): void {
  command.option('--json', 'print {"applied":[…]} on one line').action(async ({ json }: JsonOption) => {
    const { config } = decodeConfig(process.env)
    const log = createLog(config.CREEL_LOG_LEVEL)
    const connected = await connectAsGuest({ config, log, runtime: parts.runtime, maxConnections: 2 })
    try {
      const applied = await migrate(connected.database.db)
      if (json === true) return printJson({ applied })
      if (applied.length === 0) return printText('The database is up to date.')
      printText('Applied:', ...applied.map((name) => `  ${name}`))
    } finally {
      await connected.close()
    }
  })
}
