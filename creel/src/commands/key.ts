import { KEY_SCOPES, type KeyScope } from '@creel/core'
import { type Command, Option } from 'commander'
import { durationSeconds } from './duration.ts'
import { asOperator } from './operatorSession.ts'
import { type JsonOption, printHint, printJson, printTable, printText } from './print.ts'
import type { ProgramParts } from './programParts.ts'

interface CreateOptions extends JsonOption {
  readonly workspace: string
  readonly name: string
  readonly scope: KeyScope
  readonly endpoint?: string
  readonly expires?: number
  readonly allow?: readonly string[]
}

interface RotateOptions extends JsonOption {
  readonly workspace: string
  readonly key: string
  readonly overlap?: number
  readonly expires?: number
}

const ONCE = 'This is the only time that the key is shown: keep it now.'

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const expiry = (seconds: number | undefined) =>
  seconds === undefined ? {} : { expiresAt: inSeconds(seconds) }

/** `creel key …` */
export function addKeyCommands(command: Command, parts: ProgramParts): void {
  addCreate(command, parts)
  addList(command, parts)
  addRotate(command, parts)

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

function addCreate(command: Command, parts: ProgramParts): void {
  command
    .command('create')
    .description('make a key and print it, for the only time')
    .requiredOption('--workspace <id|name>', 'whose')
    .requiredOption('--name <name>', 'what it is for, 1-100 characters')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(KEY_SCOPES).default('admin'))
    .option('--endpoint <id|name>', 'for this endpoint alone; with the scope read or write')
    .option('--expires <duration>', 'it stops working after that, e.g. 90d', durationSeconds)
    .option('--allow <networks...>', 'CIDRs and addresses that it may be used from')
    .option('--json', 'print {"key","prefix","name","scope","endpointId","expiresAt"} on one line')
    .action(async ({ workspace, name, scope, endpoint, expires, allow, json }: CreateOptions) => {
      const made = await asOperator(parts, (operator) =>
        operator.keys.create({
          workspace,
          name,
          scope,
          endpoint,
          ...expiry(expires),
          ...(allow === undefined ? {} : { allowedNetworks: [...allow] }),
        }),
      )
      if (json === true) return printJson(made)
      printText(made.key)
      printHint(ONCE)
    })
}

function addList(command: Command, parts: ProgramParts): void {
  command
    .command('list')
    .description('list the keys, newest first, ended ones included')
    .requiredOption('--workspace <id|name>', 'whose')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ workspace, json }: JsonOption & { workspace: string }) => {
      const keys = await asOperator(parts, (operator) => operator.keys.list({ workspace }))
      if (json === true) return printJson(keys)
      printTable(keys, {
        Prefix: ({ prefix }) => prefix,
        Name: ({ name }) => name,
        Scope: ({ scope }) => scope,
        Endpoint: ({ endpointId }) => endpointId ?? '',
        Networks: ({ allowedNetworks }) => allowedNetworks?.join(' ') ?? '',
        Created: ({ createdAt }) => createdAt,
        'Last used': ({ lastUsedAt }) => lastUsedAt ?? '',
        Expires: ({ expiresAt }) => expiresAt ?? '',
        Revoked: ({ revokedAt }) => revokedAt ?? '',
      })
    })
}

function addRotate(command: Command, parts: ProgramParts): void {
  command
    .command('rotate')
    .description('print a new key in the place of another, which goes on for a while')
    .requiredOption('--workspace <id|name>', 'whose')
    .requiredOption('--key <prefix|id>', 'which one')
    .option('--overlap <duration>', 'for so long the old key goes on; default 1d', durationSeconds)
    .option('--expires <duration>', 'the new key stops working after that', durationSeconds)
    .option('--json', 'print {"key","prefix","name","scope","endpointId","expiresAt"} on one line')
    .action(async ({ workspace, key, overlap, expires, json }: RotateOptions) => {
      const made = await asOperator(parts, (operator) =>
        operator.keys.rotate({
          workspace,
          key,
          ...(overlap === undefined ? {} : { overlapSeconds: overlap }),
          ...expiry(expires),
        }),
      )
      if (json === true) return printJson(made)
      printText(made.key)
      printHint(ONCE)
    })
}
