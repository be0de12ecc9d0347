import type { Command } from 'commander'
import { asOperator } from './operatorSession.ts'
import { type JsonOption, printHint, printJson, printTable, printText } from './print.ts'
import type { ProgramParts } from './programParts.ts'

/** `creel key …` */
export function addKeyCommands(command: Command, parts: ProgramParts): void {
  command
    .command('create')
    .description('make a key and print it, for the only time')
    .requiredOption('--workspace <id|name>', 'whose')
    .requiredOption('--name <name>', 'what it is for, 1-100 characters')
    .option('--json', 'print {"key","prefix","name"} on one line')
    .action(async ({ workspace, name, json }: JsonOption & { workspace: string; name: string }) => {
      const made = await asOperator(parts, (operator) => operator.keys.create({ workspace, name }))
      if (json === true) return printJson(made)
      printText(made.key)
      printHint('This is the only time that the key is shown: keep it now.')
    })

  command
    .command('list')
    .description('list the keys, newest first, revoked ones included')
    .requiredOption('--workspace <id|name>', 'whose')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ workspace, json }: JsonOption & { workspace: string }) => {
      const keys = await asOperator(parts, (operator) => operator.keys.list({ workspace }))
      if (json === true) return printJson(keys)
      printTable(keys, {
        Prefix: ({ prefix }) => prefix,
        Name: ({ name }) => name,
        Created: ({ createdAt }) => createdAt,
        Revoked: ({ revokedAt }) => revokedAt ?? '',
      })
    })

  command
    .command('revoke')
    .description('revoke a key; the next call with it answers 401')
    .requiredOption('--workspace <id|name>', 'whose')
    .requiredOption('--key <prefix|id>', 'which one')
    .option('--json', 'print the revoked key, without the key itself, on one line')
    .action(async (options: JsonOption & { workspace: string; key: string }) => {
      const { workspace, key: reference, json } = options
      const revoked = await asOperator(parts, (operator) =>
        operator.keys.revoke({ workspace, key: reference }),
      )
      if (json === true) return printJson(revoked)
      printText(`The key ${revoked.prefix}… ("${revoked.name}") is revoked.`)
    })
}
