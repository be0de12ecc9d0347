import { type JsonOption, printJson, printTable, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { asOperatorIn } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

export function addContactCommands(command: Command, parts: ProgramParts): void {
  command
    .command('add')
    .description('add a contact')
    .option('--workspace <id|name>', 'workspace of the contacts; default the only one')
    .requiredOption('--email <address>', 'mail address')
    .option('--name <name>', 'name of the person or team')
    .option('--json', 'print the contact on one line')
    .action(async (options: JsonOption & { workspace?: string; email: string; name?: string }) => {
      const { json, workspace: named, ...input } = options
      const added = await asOperatorIn(parts, named, (operator, workspace) =>
        operator.contacts.add({ ...input, workspace }),
      )
      if (json === true) return printJson(added)
      printText(`Added the contact ${added.email}. Mail channels of the workspace can use it.`)
    })

  command
    .command('list')
    .description('list the contacts, newest first')
    .option('--workspace <id|name>', 'workspace of the contacts; default the only one')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ workspace: named, json }: JsonOption & { workspace?: string }) => {
      const contacts = await asOperatorIn(parts, named, (operator, workspace) =>
        operator.contacts.list({ workspace }),
      )
      if (json === true) return printJson(contacts)
      printTable(contacts, {
        Id: ({ id }) => id,
        Email: ({ email }) => email,
        Name: ({ name }) => name ?? '',
        Created: ({ createdAt }) => createdAt,
      })
    })

  command
    .command('remove')
    .description('remove a contact')
    .option('--workspace <id|name>', 'workspace of the contacts; default the only one')
    .requiredOption('--contact <id|address>', 'contact to remove')
    .option('--json', 'print the removed contact on one line')
    .action(async (options: JsonOption & { workspace?: string; contact: string }) => {
      const { json, workspace: named, ...input } = options
      const removed = await asOperatorIn(parts, named, (operator, workspace) =>
        operator.contacts.remove({ ...input, workspace }),
      )
      if (json === true) return printJson(removed)
      printText(`Removed the contact ${removed.email}.`)
    })
}
