import type { Command } from 'commander'
import { asOperator } from './operatorSession.ts'
import { type JsonOption, printHint, printJson, printText } from './print.ts'
import type { ProgramParts } from './programParts.ts'

/** `creel secrets …` */
export function addSecretsCommands(command: Command, parts: ProgramParts): void {
  command
    .command('rotate')
    .description('seal every stored secret anew with the first of CREEL_SECRET_KEYS; the service may run')
    .option('--json', 'print {"resealedCount","unreadableCount"} on one line')
    .action(async ({ json }: JsonOption) => {
      const { resealedCount, unreadableCount } = await asOperator(parts, (operator) =>
        operator.secrets.rotate(),
      )
      if (unreadableCount > 0) {
        printHint(`${unreadableCount} stored secrets are opened by none of the keys: they are as they were.`)
        process.exitCode = 1
      }
      if (json === true) return printJson({ resealedCount, unreadableCount })
      printText(`Sealed ${resealedCount} stored secrets anew.`)
      if (unreadableCount === 0) printHint('The former keys can go from CREEL_SECRET_KEYS now.')
    })
}
