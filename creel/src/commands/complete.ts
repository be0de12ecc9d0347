import { printText } from '@creel/terminal/output/print'
import { SafeText } from '@creel/terminal/output/safeText'
import { Argument, type Command, type Option } from 'commander'
import type { ProgramTools } from '../programTools.ts'

/** `creel complete -- <words…>`, called by completion scripts. The last word is the incomplete one. */
export function addCompleteCommand(command: Command, tools: ProgramTools): void {
  command.argument('[words...]', 'words of the command line so far').action(async (words: string[]) => {
    const found = await candidates(await tools.whole(words[0]), words, tools)
    if (found.length > 0) printText(...found)
  })
}

/** The command line up to the incomplete word. */
interface Typed {
  readonly command: Command
  /** Values of the command's arguments. */
  readonly values: readonly string[]
  /** Values of its options, by their long names. */
  readonly options: Readonly<Record<string, string>>
  /** The option that expects a value next. */
  readonly pending: Option | undefined
}

function read(program: Command, words: readonly string[]): Typed {
  let command = program
  const values: string[] = []
  const options: Record<string, string> = {}
  let pending: Option | undefined
  for (const word of words) {
    if (pending !== undefined) {
      options[pending.long ?? ''] = word
      pending = undefined
    } else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => long === word || short === word)
      if (option?.required === true) pending = option
    } else {
      const sub = values.length === 0 ? command.commands.find((known) => known.name() === word) : undefined
      if (sub === undefined) values.push(word)
      else command = sub
    }
  }
  return { command, values, options, pending }
}

/** Completions of the last word, including names from the service. */
async function candidates(
  program: Command,
  words: readonly string[],
  tools: ProgramTools,
): Promise<readonly string[]> {
  const last = words.at(-1) ?? ''
  const typed = read(program, words.slice(0, -1))
  const { command, values, pending } = typed
  const namesFor = async (place: Argument | Option | undefined): Promise<readonly string[]> => {
    if (place === undefined) return []
    return place.argChoices ?? (await knownNames(nameOf(place), typed, tools))
  }
  const all =
    pending !== undefined
      ? await namesFor(pending)
      : last.startsWith('-')
        ? ['--help', ...command.options.flatMap(({ long }) => long ?? [])]
        : [...subcommandsOf(command), ...(await namesFor(argumentAt(command, values.length)))]
  return all.filter((word) => word.startsWith(last))
}

const subcommandsOf = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((sub) => sub.name())

/** The argument at a position; a variadic one takes all further positions. */
function argumentAt({ registeredArguments }: Command, place: number): Argument | undefined {
  const last = registeredArguments.at(-1)
  return registeredArguments[place] ?? (last?.variadic === true ? last : undefined)
}

/** Name of an argument or of an option's value: `endpoint` for `--to <endpoint>`. */
function nameOf(place: Argument | Option): string {
  return 'flags' in place ? (/<(\w+)>/.exec(place.flags)?.[1] ?? '') : place.name()
}

async function knownNames(
  name: string,
  { values, options }: Typed,
  tools: ProgramTools,
): Promise<readonly string[]> {
  const { namesOf } = await import('@creel/terminal/names')
  return await namesOf(name, { provider: values[0], url: options['--url'], key: options['--key'] }, tools)
}

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

const BASH = `_creel() {
  local IFS=$'\\n'
  COMPREPLY=($(creel complete -- "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null))
}
complete -F _creel creel`

/** Script for each shell's startup. It asks the program for completions. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: `autoload -U +X bashcompinit && bashcompinit\n${BASH}`,
  fish: `complete -c creel -f -a '(creel complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
}

export function addCompletionCommand(command: Command, _tools: ProgramTools): void {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action((shell: Shell) => printText(...SafeText.lines(SCRIPTS[shell])))
}
