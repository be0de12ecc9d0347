import type { Command } from 'commander'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { durationSeconds } from '../duration.ts'
import { printHint, printJson, printText } from '../output/print.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

export function addRotateUrlCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .command('rotate-url')
      .description('create a new capture URL and print it; the old one keeps working for a while')
      .argument('<endpoint>', 'name, id or capture URL')
      .option(
        '--overlap <duration>',
        'time that the old URL keeps working, e.g. 12h; 0s ends it at once',
        durationSeconds,
      ),
    {
      json: 'print the endpoint on one line',
      examples: ['creel endpoints rotate-url orders', 'creel endpoints rotate-url orders --overlap 7d'],
    },
  ).action(async (wanted: string, { overlap, ...options }: ClientOptions & { overlap?: number }) => {
    const api = await openApi(options, tools)
    const { id, name } = await chooseEndpoint(api, wanted)
    const overlapping = overlap === undefined ? {} : { overlapSeconds: overlap }
    const rotated = await api.calls.endpoints.rotateUrl({ endpointId: id, ...overlapping })
    if (options.json === true) return printJson(rotated)
    printText(rotated.url)
    const until = rotated.previousUrlUntil
    printHint(
      typeof until === 'string'
        ? `The old capture URL of "${name}" keeps working until ${until}.`
        : `The old capture URL of "${name}" no longer works.`,
    )
  })
}
