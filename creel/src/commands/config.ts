import type { Command } from 'commander'
import { decodeConfig, maskedConfig } from '../config/index.ts'
import { type JsonOption, printHint, printJson, printTable } from './print.ts'

/** `creel config` */
export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('print the effective configuration, secrets masked')
    .option('--json', 'print one JSON object on one line')
    .action(({ json }: JsonOption) => {
      const { config, warnings } = decodeConfig(process.env)
      for (const warning of warnings) printHint(`warning: ${warning}`)
      const { plans, ...variables } = maskedConfig(config)
      if (json === true) return printJson({ ...variables, plans })
      printTable(Object.entries({ ...variables, plans }), {
        Variable: ([name]) => name,
        Value: ([, value]) => shown(value),
      })
    })
}

function shown(value: unknown): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
