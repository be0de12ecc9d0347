import type { Command } from 'commander'
import type { ProgramParts } from './commands/programParts.ts'

/** Dependencies of commands. */
export interface ProgramTools extends ProgramParts {
  /**
   * Builds the whole command line, for help and completion.
   *
   * @param only the one command whose options and subcommands are needed; undefined: all commands
   */
  readonly whole: (only?: string) => Promise<Command>
}
