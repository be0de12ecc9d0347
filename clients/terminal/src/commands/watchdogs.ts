import type { Command } from 'commander'
import { printJson, printTable } from '../output/print.ts'
import { agoText, spanText } from '../output/text.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { addNounChanges } from './nounCommands.ts'
import { WATCHDOGS } from './nouns.ts'

/** `creel watchdogs`, which lists them, with its subcommands `create`, `update` and `delete`. */
export function addWatchdogsCommand(command: Command, tools: TerminalTools): void {
  command.enablePositionalOptions()
  addNounChanges(command, WATCHDOGS, tools)
  withClientOptions(command.option('--state <state>', 'waiting, onTime, late, alarmed or paused'), {
    json: 'print one JSON object per line',
    examples: ['creel watchdogs', 'creel watchdogs --state alarmed --json'],
  }).action(async (options: ClientOptions & { state?: string }) => {
    const api = await openApi(options, tools)
    const all = await Array.fromAsync(api.creel.watchdogs.list())
    const rows = all.filter(({ state }) => options.state === undefined || state === options.state)
    if (options.json === true) {
      for (const row of rows) printJson(row)
      return
    }
    const now = Date.now()
    printTable(rows, {
      Name: ({ name }) => name,
      Endpoint: ({ endpointName }) => endpointName,
      State: ({ state }) => state,
      Every: ({ expectedIntervalSeconds: seconds }) => spanText(seconds),
      Grace: ({ graceSeconds }) => spanText(graceSeconds),
      'Last match': ({ lastMatchedAt }) => agoText(lastMatchedAt, now),
      Due: ({ dueAt }) => dueAt ?? '',
    })
  })
}
