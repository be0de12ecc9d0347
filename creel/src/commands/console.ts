import { type JsonOption, printHint, printJson, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { decodeConfig } from '../config/index.ts'
import { asOperator } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'
import { StartupError } from '../startupError.ts'

export function addConsoleCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--workspace <id|name>', 'workspace to sign in to', 'default')
    .option('--json', 'print {"url","expiresAt"} on one line')
    .action(async ({ workspace, json }: JsonOption & { workspace: string }) => {
      if (decodeConfig(process.env).config.CREEL_CONSOLE === 'off') {
        throw new StartupError('The console is off. Remove CREEL_CONSOLE=off to switch it on.')
      }
      const link = await asOperator(parts, workspace, (operator) => operator.sessions.link({ workspace }))
      if (json === true) return printJson(link)
      printText(link.url)
      printHint(
        'The link works once, within 15 minutes. It signs in as an admin: keys, contacts and sessions included.',
      )
    })
}
