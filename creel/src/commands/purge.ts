import { EXIT } from '@creel/terminal/exitCodes'
import { type JsonOption, printHint, printJson, printText } from '@creel/terminal/output/print'
import { type Command, InvalidArgumentError } from 'commander'
import { asOperator } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

interface PurgeOptions extends JsonOption {
  readonly workspace: string
  readonly endpoint?: string
  readonly request?: number
  readonly yes?: boolean
}

export function addPurgeCommand(command: Command, parts: ProgramParts): void {
  command
    .requiredOption('--workspace <id|name>', 'workspace to purge')
    .option('--endpoint <id|name>', 'only this endpoint')
    .option('--request <id>', 'only this request; needs --endpoint', requestId)
    .option('--yes', 'delete; without it, the requests are only counted')
    .option('--json', 'print {"purgedCount"} on one line')
    .action(async ({ json, yes, ...target }: PurgeOptions) => {
      if (yes !== true) {
        const { requestCount } = await asOperator(parts, target.workspace, (operator) =>
          operator.retention.countPurge(target),
        )
        printHint(
          `This would permanently delete ${requestCount} requests and their delivery attempts.`,
          'Add --yes to delete them.',
        )
        process.exitCode = EXIT.usage
        return
      }
      const { purgedCount } = await asOperator(parts, target.workspace, (operator) =>
        operator.retention.purge(target),
      )
      if (json === true) return printJson({ purgedCount })
      printText(`Permanently deleted ${purgedCount} requests.`)
    })
}

function requestId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give the id of a request, a number.')
  return Number(text)
}
