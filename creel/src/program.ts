import { clientFailure } from '@creel/terminal/clientError'
import { EXIT } from '@creel/terminal/exitCodes'
import { printHint } from '@creel/terminal/output/print'
import { ReaderGone } from '@creel/terminal/output/write'
import { Command, CommanderError } from 'commander'
import { COMMAND_GROUPS, type CommandEntry, type CommandGroup, QUICK_START } from './commandTable.ts'
import type { ProgramParts } from './programParts.ts'
import { programTools } from './programTools.ts'
import { VERSION } from './version.ts'

const NAME_COLUMNS = 13
const LINE_COLUMNS_MAX = 78

/** The text of `creel help`: lines of at most 80 columns, short enough for one screen. */
function briefHelp(): string[] {
  const described = COMMAND_GROUPS.filter(({ areDescribed }) => areDescribed === true)
  const named = COMMAND_GROUPS.filter(({ areDescribed }) => areDescribed !== true)
  return [
    'Usage: creel [command] [options]',
    '',
    'Captures webhooks, shows them, and replays them.',
    '',
    ...described.flatMap(descriptions),
    ...named.flatMap(names),
    '',
    '`creel help <command>` shows its options, with examples. `creel help config`',
    'lists the environment variables. `creel --version` prints the version.',
  ]
}

function descriptions({ commands }: CommandGroup): string[] {
  return [
    ...commands.map(({ name, description }) => {
      const word = name === QUICK_START ? 'creel' : `creel ${name}`
      return `  ${word.padEnd(NAME_COLUMNS + 4)} ${description}`
    }),
    '',
  ]
}

/** The heading and the names of its commands, wrapped over several lines. */
function names({ heading, commands }: CommandGroup): string[] {
  const lines: string[] = []
  let line = `  ${heading.padEnd(NAME_COLUMNS - 2)}`
  for (const { name } of commands.filter(({ isHidden }) => isHidden !== true)) {
    if (line.length + name.length + 1 > LINE_COLUMNS_MAX) {
      lines.push(line)
      line = ' '.repeat(NAME_COLUMNS)
    }
    line += ` ${name}`
  }
  return [...lines, line]
}

/** The command line with the names and descriptions of all commands, without their code. */
function outline(): Command {
  const program = new Command('creel')
    .description('Captures webhooks, shows them, and replays them.')
    .version(VERSION)
    .showSuggestionAfterError()
    // Options after a command belong to it: commands and their subcommands have options of the same names.
    .enablePositionalOptions()
    .helpCommand(false)
    .exitOverride()
  // Fits on one screen; commander would describe every command.
  program.helpInformation = () => `${briefHelp().join('\n')}\n`
  for (const { commands } of COMMAND_GROUPS) {
    for (const { name, alias, description, isHidden } of commands) {
      const command = program
        .command(name, { hidden: isHidden === true })
        .description(description)
        .helpCommand(false)
      if (alias !== undefined) command.alias(alias)
    }
  }
  return program
}

const ENTRIES: readonly CommandEntry[] = COMMAND_GROUPS.flatMap(({ commands }) => commands)

async function fill(program: Command, entries: readonly CommandEntry[], parts: ProgramParts): Promise<void> {
  const tools = programTools(parts, (only) => createProgram(parts, only))
  for (const { name, load, isOfCells } of entries) {
    const command = program.commands.find((known) => known.name() === name)
    if (command === undefined) continue
    ;(await load())(command, tools)
    if (isOfCells === true) addCellOption(command)
  }
  pointToHelp(program, 'creel')
}

/**
 * Builds the whole command line: every command with its options and help.
 *
 * @param only loads the code of this command alone; the others have only name and description
 */
export async function createProgram(parts: ProgramParts, only?: string): Promise<Command> {
  const program = outline()
  await fill(program, only === undefined ? ENTRIES : ENTRIES.filter(({ name }) => name === only), parts)
  return program
}

/** Adds `--cell` to each command that runs. It takes the place of `CREEL_CELL`. */
function addCellOption(command: Command): void {
  if (command.commands.length > 0) {
    for (const sub of command.commands) addCellOption(sub)
    return
  }
  command
    .option('--cell <name>', 'the cell, of several; default CREEL_CELL, else all')
    .hook('preAction', (_hooked, action) => {
      const { cell } = action.opts<{ readonly cell?: string }>()
      if (cell !== undefined) process.env.CREEL_CELL = cell
    })
}

/** Lets each command point to its own help after an error. */
function pointToHelp(command: Command, chain: string): void {
  command.showHelpAfterError(`(\`${chain} --help\` shows the options)`)
  for (const sub of command.commands) pointToHelp(sub, `${chain} ${sub.name()}`)
}

/**
 * Runs one command line and ends the process with its exit code, once all output has been written. Only the code of
 * that command is loaded.
 *
 * @param words the command line without program and script
 */
export async function runProgram(words: readonly string[], parts: ProgramParts): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of stdout has gone (`| head`), so the output is dropped.
    if (error.code === 'EPIPE') return
    // A service ends its work first.
    if (process.listenerCount('uncaughtException') > 0) throw error
    printHint(`creel: The output cannot be written: ${error.message}.`)
    process.exit(EXIT.failed)
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of stderr has gone, so messages are dropped, and the command goes on.
    if (error.code !== 'EPIPE') throw error
  })
  let ran: Command | undefined
  try {
    const program = outline().hook('preAction', (_program, command) => {
      ran = command
    })
    const line = asksForQuickStart(words) ? [QUICK_START, ...words] : [...words]
    const first = line.find((word) => !word.startsWith('-'))
    await fill(
      program,
      ENTRIES.filter(({ name, alias }) => first !== undefined && [name, alias].includes(first)),
      parts,
    )
    await program.parseAsync(line, { from: 'user' })
  } catch (error) {
    process.exitCode = await exitCodeOfFailure(error, ran)
  }
}

/** Options without a command belong to the quick start, except for the program's own options. */
const asksForQuickStart = ([first]: readonly string[]): boolean =>
  first === undefined || (first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first))

async function exitCodeOfFailure(error: unknown, ran: Command | undefined): Promise<number> {
  if (error instanceof ReaderGone) return EXIT.ok
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const ofClient = clientFailure(error, ran)
  if (ofClient !== undefined) {
    printHint(...ofClient.lines)
    return ofClient.exitCode
  }
  return (await import('./commands/failures.ts')).reportFailure(error)
}
