import type { Command } from 'commander'
import { printTable } from '../output/print.ts'
import { agoText, spanText } from '../output/text.ts'
import { addVerb, type ClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { addNounChanges } from './nounCommands.ts'
import { WATCHDOGS } from './nouns.ts'

/** `creel watchdogs`, which lists them, with its subcommands `create`, `update` and `delete`. */
export function addWatchdogsCommand(command: Command, tools: TerminalTools): void {
  command.enablePositionalOptions()
  addNounChanges(command, WATCHDOGS, tools)
  addVerb(command.option('--state <state>', 'waiting, onTime, late, alarmed or paused'), tools, {
    json: 'print one JSON object per line',
    examples: ['creel watchdogs', 'creel watchdogs --state alarmed --json'],
    run: async (api, wanted: ClientOptions & { state?: string }) => {
      const all = await Array.fromAsync(api.creel.watchdogs.list())
      return all.filter(({ state }) => wanted.state === undefined || state === wanted.state)
    },
    print: (rows) =>
      printTable(rows, {
        Name: ({ name }) => name,
        Endpoint: ({ endpointName }) => endpointName,
        State: ({ state }) => state,
        Every: ({ expectedIntervalSeconds: seconds }) => spanText(seconds),
        Grace: ({ graceSeconds }) => spanText(graceSeconds),
        'Last match': ({ lastMatchedAt }) => agoText(lastMatchedAt, Date.now()),
        Due: ({ dueAt }) => dueAt ?? '',
      }),
  })
}
