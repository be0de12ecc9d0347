import { KEY_SCOPES, type KeyScope } from '@creel/core'
import { type JsonOption, printHint, printJson, printTable, printText } from '@creel/terminal/output/print'
import { durationSeconds } from '@creel/terminal/words'
import { type Command, Option } from 'commander'
import { asOperatorIn } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

interface CreateOptions extends JsonOption {
  readonly workspace?: string
  readonly name: string
  readonly scope: KeyScope
  readonly endpoint?: string
  readonly expires?: number
  readonly allow?: readonly string[]
}

interface RotateOptions extends JsonOption {
  readonly workspace?: string
  readonly key: string
  readonly overlap?: number
  readonly expires?: number
}

const ONCE = 'The key is shown only once. Save it now.'

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const expiry = (seconds: number | undefined) =>
  seconds === undefined ? {} : { expiresAt: inSeconds(seconds) }

export function addKeyCommands(command: Command, parts: ProgramParts): void {
  addCreate(command, parts)
  addList(command, parts)
  addRotate(command, parts)

  command
    .command('revoke')
    .description('revoke a key at once; calls with it answer 401')
    .option('--workspace <id|name>', 'workspace of the key; default the only one')
    .requiredOption('--key <prefix|id>', 'which one')
    .option('--json', 'print the revoked key, without the key itself, on one line')
    .action(async (options: JsonOption & { workspace?: string; key: string }) => {
      const { workspace: named, key: reference, json } = options
      const revoked = await asOperatorIn(parts, named, (operator, workspace) =>
        operator.keys.revoke({ workspace, key: reference }),
      )
      if (json === true) return printJson(revoked)
      printText(`The key ${revoked.prefix}… ("${revoked.name}") is revoked.`)
    })
}

function addCreate(command: Command, parts: ProgramParts): void {
  command
    .command('create')
    .description('create a key and print it; it is shown only once')
    .option('--workspace <id|name>', 'workspace of the key; default the only one')
    .requiredOption('--name <name>', 'name that says its use, 1-100 characters')
    .addOption(new Option('--scope <scope>', 'permissions of the key').choices(KEY_SCOPES).default('admin'))
    .option('--endpoint <id|name>', 'limit the key to one endpoint; its scope must be read or write')
    .option('--expires <duration>', 'time until the key expires, e.g. 90d', durationSeconds)
    .option('--allow <networks...>', 'CIDRs and addresses that may use the key')
    .option('--json', 'print {"key","prefix","name","scope","endpointId","expiresAt"} on one line')
    .action(async ({ workspace: named, name, scope, endpoint, expires, allow, json }: CreateOptions) => {
      const made = await asOperatorIn(parts, named, (operator, workspace) =>
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
    .description('list the keys, newest first, with expired and revoked ones')
    .option('--workspace <id|name>', 'workspace of the key; default the only one')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ workspace: named, json }: JsonOption & { workspace?: string }) => {
      const keys = await asOperatorIn(parts, named, (operator, workspace) =>
        operator.keys.list({ workspace }),
      )
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
    .description('replace a key with a new one; both work during the overlap')
    .option('--workspace <id|name>', 'workspace of the key; default the only one')
    .requiredOption('--key <prefix|id>', 'which one')
    .option('--overlap <duration>', 'time that the old key keeps working; default 1d', durationSeconds)
    .option('--expires <duration>', 'time until the new key expires', durationSeconds)
    .option('--json', 'print {"key","prefix","name","scope","endpointId","expiresAt"} on one line')
    .action(async ({ workspace: named, key, overlap, expires, json }: RotateOptions) => {
      const made = await asOperatorIn(parts, named, (operator, workspace) =>
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
