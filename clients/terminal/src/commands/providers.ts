import type { Command } from 'commander'
import { printJson, printTable } from '../output/print.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

export function addProvidersCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(command.argument('[text]', 'search text for slug and name'), {
    json: 'print one JSON object per line',
    examples: ['creel providers', 'creel providers pay', 'creel providers --json | jq -r .slug'],
  }).action(async (text: string | undefined, options: ClientOptions) => {
    const api = await openApi(options, tools)
    const wanted = (text ?? '').toLowerCase()
    const { items } = await api.calls.providers.list({})
    const found = items.filter(({ slug, name }) => `${slug}\n${name}`.toLowerCase().includes(wanted))
    if (options.json === true) {
      for (const provider of found) printJson(provider)
      return
    }
    printTable(found, {
      Slug: ({ slug }) => slug,
      Name: ({ name }) => name,
      Signature: ({ verification }) => verification?.scheme ?? 'none',
      'Signing secret': ({ verification }) => verification?.secretLabel ?? '',
    })
  })
}
