import { type JsonOption, printHint, printJson, printTable } from '@creel/terminal/output/print'
import { durationSeconds } from '@creel/terminal/words'
import { type Command, InvalidArgumentError } from 'commander'
import { asOperator, asOperatorOfAll, type Operator } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

interface AuditOptions extends JsonOption {
  readonly workspace?: string
  readonly action?: string
  readonly endpoint?: string
  readonly since?: number
  readonly limit: number
}

export function addAuditCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--workspace <id|name>', 'only this workspace; default all of them and the installation')
    .option('--action <name>', 'only this action, e.g. keys.create')
    .option('--endpoint <id>', 'only this endpoint, also if it was deleted')
    .option('--since <duration>', 'only entries of this last period, e.g. 7d', durationSeconds)
    .option('--limit <count>', 'number of entries, 1-100', limit, 50)
    .option('--json', 'print {"items","totalCount"} on one line')
    .action(async ({ workspace, action, endpoint, since, limit: pageSize, json }: AuditOptions) => {
      const list = (operator: Operator) =>
        operator.audit.list({
          workspace,
          action,
          endpointId: endpoint,
          ...(since === undefined ? {} : { since: new Date(Date.now() - since * 1000).toISOString() }),
          pageSize,
        })
      const lists =
        workspace === undefined
          ? (await asOperatorOfAll(parts, list)).map(({ answer }) => answer)
          : [await asOperator(parts, workspace, list)]
      const totalCount = lists.reduce((sum, one) => sum + one.totalCount, 0)
      const all = lists.flatMap((one) => one.items).sort((one, two) => two.at.localeCompare(one.at))
      const items = all.slice(0, pageSize)
      if (json === true) return printJson({ items, totalCount })
      printTable(items, {
        At: ({ at }) => at,
        Actor: ({ actor }) => `${actor.kind} ${actor.name}`,
        From: ({ actor }) => actor.address ?? '',
        Action: ({ action: done }) => done,
        Subject: ({ subject }) => `${subject.type} ${subject.name ?? subject.id}`,
        Changed: changedNames,
      })
      if (totalCount > items.length)
        printHint(`${items.length} of ${totalCount}; add --json to see the values before and after.`)
    })
}

const NAMED_MAX = 4

/** Names of the changed members, on a line. A creation or deletion has none: the action says it. */
function changedNames({ before, after }: { before: object | null; after: object | null }): string {
  if (before === null || after === null) return ''
  const names = Object.keys({ ...before, ...after })
  const rest = names.length - NAMED_MAX
  return names.slice(0, NAMED_MAX).join(' ') + (rest > 0 ? ` and ${rest} more` : '')
}

function limit(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > 100) {
    throw new InvalidArgumentError('Give a number from 1 to 100.')
  }
  return count
}
