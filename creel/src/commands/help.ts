import type { Command } from 'commander'

/** `creel help [command…]`, in place of commander's, which knows the first word of a chain only. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('tell what a command does and takes, e.g. `creel help key create`')
    .argument('[command...]', 'which one')
    .action((chain: string[]) => {
      let command = program
      for (const word of chain) {
        const sub = command.commands.find((known) => known.name() === word)
        if (sub === undefined) return command.error(`error: there is no command '${chain.join(' ')}'`)
        command = sub
      }
      command.outputHelp()
    })
  for (const group of program.commands) group.helpCommand(false)
}
