import { LIMIT_NAMES } from '@creel/core/plans'
import { type JsonOption, printHint, printJson, printTable, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { decodeConfig, maskedConfig } from '../config/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { VARIABLES_HELP } from './variablesHelp.ts'

export function addConfigCommand(command: Command): void {
  command.addHelpText('after', VARIABLES_HELP)
  command.option('--json', 'print one JSON object on one line').action(async ({ json }: JsonOption) => {
    const { config, warnings } = decodeConfig(await environmentBesideService(process.env))
    for (const warning of warnings) printHint(`warning: ${warning}`)
    const { variables, plans } = maskedConfig(config)
    if (json === true) return printJson({ ...variables, plans })
    printTable(Object.entries(variables), {
      Variable: ([name]) => name,
      Value: ([, value]) => shown(value),
    })
    printText('')
    printTable(LIMIT_NAMES, {
      Limit: (limit) => limit,
      free: (limit) => shown(plans.free[limit]),
      solo: (limit) => shown(plans.solo[limit]),
      pro: (limit) => shown(plans.pro[limit]),
      team: (limit) => shown(plans.team[limit]),
      'self-hosted': (limit) => shown(plans['self-hosted'][limit]),
    })
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map((entry) => entry.join('='))
    .join(', ')
}
