import { type Command, InvalidArgumentError } from 'commander'
import { EXIT } from '../exitCodes.ts'
import { asOperator } from './operatorSession.ts'
import { type JsonOption, printHint, printJson, printText } from './print.ts'
import type { ProgramParts } from './programParts.ts'

interface PurgeOptions extends JsonOption {
  readonly workspace: string
  readonly endpoint?: string
  readonly request?: number
  readonly yes?: boolean
}

/** `creel purge` */
export function addPurgeCommand(command: Command, parts: ProgramParts): void {
  command
    .requiredOption('--workspace <id|name>', 'whose')
    .option('--endpoint <id|name>', 'of this endpoint alone')
    .option('--request <id>', 'this request alone; needs --endpoint', requestId)
    .option('--yes', 'really do it; without it the requests are only counted')
    .option('--json', 'print {"purgedCount"} on one line')
    .action(async ({ json, yes, ...target }: PurgeOptions) => {
      if (yes !== true) {
        const { requestCount } = await asOperator(parts, (operator) => operator.retention.countPurge(target))
        printHint(
          `This would remove ${requestCount} requests for good, with their attempts; nothing brings them back.`,
          'Add --yes to do it.',
        )
        process.exitCode = EXIT.usage
        return
      }
      const { purgedCount } = await asOperator(parts, (operator) => operator.retention.purge(target))
      if (json === true) return printJson({ purgedCount })
      printText(`Removed ${purgedCount} requests for good.`)
    })
}

function requestId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be the number of a request.')
  return Number(text)
}
