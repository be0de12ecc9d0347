import { type JsonOption, printJson, printTable, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { asOperator } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

export function addContactCommands(command: Command, parts: ProgramParts): void {
  command
    .command('add')
    .description('add a contact')
    .requiredOption('--workspace <id|name>', 'workspace of the contacts')
    .requiredOption('--email <address>', 'mail address')
    .option('--name <name>', 'name of the person or team')
    .option('--json', 'print the contact on one line')
    .action(async (options: JsonOption & { workspace: string; email: string; name?: string }) => {
      const { json, ...input } = options
      const added = await asOperator(parts, input.workspace, (operator) => operator.contacts.add(input))
      if (json === true) return printJson(added)
      printText(`Added the contact ${added.email}. Mail channels of the workspace can use it.`)
    })

  command
    .command('list')
    .description('list the contacts, newest first')
    .requiredOption('--workspace <id|name>', 'workspace of the contacts')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ workspace, json }: JsonOption & { workspace: string }) => {
      const contacts = await asOperator(parts, workspace, (operator) => operator.contacts.list({ workspace }))
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
    .requiredOption('--workspace <id|name>', 'workspace of the contacts')
    .requiredOption('--contact <id|address>', 'contact to remove')
    .option('--json', 'print the removed contact on one line')
    .action(async (options: JsonOption & { workspace: string; contact: string }) => {
      const { json, ...input } = options
      const removed = await asOperator(parts, input.workspace, (operator) => operator.contacts.remove(input))
      if (json === true) return printJson(removed)
      printText(`Removed the contact ${removed.email}.`)
    })
}
