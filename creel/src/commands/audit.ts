import { durationSeconds } from '@creel/terminal/duration'
import { type JsonOption, printHint, printJson, printTable } from '@creel/terminal/output/print'
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
        Changed: ({ before, after }) => Object.keys(after ?? before ?? {}).join(' '),
      })
      if (totalCount > items.length)
        printHint(`${items.length} of ${totalCount}; Add --json to see the values before and after.`)
    })
}

function limit(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > 100) {
    throw new InvalidArgumentError('Give a number from 1 to 100.')
  }
  return count
}
