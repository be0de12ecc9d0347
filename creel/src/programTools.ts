import type { Command } from 'commander'
import type { ProgramParts } from './commands/programParts.ts'

/** What a command may need besides its own words. */
export interface ProgramTools extends ProgramParts {
  /**
   * The whole command line, for help and completion.
   *
   * @param only the one command whose options and subcommands are wanted; undefined: those of all
   */
  readonly whole: (only?: string) => Promise<Command>
}
