import type { Command } from 'commander'
import type { ProgramTools } from '../programTools.ts'

/** `creel help [command…]`. It replaces commander's command, which supports only one word. */
export function addHelpCommand(help: Command, tools: ProgramTools): void {
  help.argument('[command...]', 'command to explain').action(async (chain: string[]) => {
    let command = await tools.whole(chain[0])
    for (const word of chain) {
      const sub = command.commands.find((known) => known.name() === word)
      if (sub === undefined) return command.error(`error: unknown command '${chain.join(' ')}'`)
      command = sub
    }
    command.outputHelp()
  })
}
