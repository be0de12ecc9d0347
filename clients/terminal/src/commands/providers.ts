import type { Command } from 'commander'
import { printTable } from '../output/print.ts'
import { addVerb, type ClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

export function addProvidersCommand(command: Command, tools: TerminalTools): void {
  addVerb(command.argument('[text]', 'search text for slug and name'), tools, {
    json: 'print one JSON object per line',
    examples: ['creel providers', 'creel providers pay', 'creel providers --json | jq -r .slug'],
    run: async (api, _: ClientOptions, text: string | undefined) => {
      const wanted = (text ?? '').toLowerCase()
      const { items } = await api.calls.providers.list({})
      return items.filter(({ slug, name }) => `${slug}\n${name}`.toLowerCase().includes(wanted))
    },
    print: (found) =>
      printTable(found, {
        Slug: ({ slug }) => slug,
        Name: ({ name }) => name,
        Signature: ({ verification }) => verification?.scheme ?? 'none',
        'Signing secret': ({ verification }) => verification?.secretLabel ?? '',
      }),
  })
}
