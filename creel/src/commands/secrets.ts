import { type JsonOption, printHint, printJson, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { asOperatorOfAll } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

export function addSecretsCommands(command: Command, parts: ProgramParts): void {
  command
    .command('rotate')
    .description('re-encrypt stored secrets with the first key of CREEL_SECRET_KEYS; the service may run')
    .option('--json', 'print {"resealedCount","unreadableCount"} on one line')
    .action(async ({ json }: JsonOption) => {
      const cells = await asOperatorOfAll(parts, (operator) => operator.secrets.rotate())
      const resealedCount = cells.reduce((sum, { answer }) => sum + answer.resealedCount, 0)
      const unreadableCount = cells.reduce((sum, { answer }) => sum + answer.unreadableCount, 0)
      if (unreadableCount > 0) {
        printHint(`${unreadableCount} stored secrets fit none of the keys and were left unchanged.`)
        process.exitCode = 1
      }
      if (json === true) return printJson({ resealedCount, unreadableCount })
      printText(`Re-encrypted ${resealedCount} stored ${resealedCount === 1 ? 'secret' : 'secrets'}.`)
      if (unreadableCount === 0) printHint('Now remove the old keys from CREEL_SECRET_KEYS.')
    })
}
