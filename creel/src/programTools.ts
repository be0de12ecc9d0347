import type { Command } from 'commander'
import type { ProgramParts } from './commands/programParts.ts'

/** What a command may need besides its own words. */
export interface ProgramTools extends ProgramParts {
  /** The whole command line, every command loaded: for help and completion. */
  readonly whole: () => Promise<Command>
}
