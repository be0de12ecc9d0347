import { Argument, type Command } from 'commander'
import type { ProgramTools } from '../programTools.ts'
import { printText } from './print.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** `creel completion <shell>` */
export function addCompletionCommand(command: Command, tools: ProgramTools): void {
  command
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: Shell) => printText(SCRIPTS[shell](wordsOf(await tools.whole()))))
}

/** What may follow each chain of commands (`''` for the program itself, `key create` for a subcommand) and each option. */
interface Words {
  readonly ofChains: ReadonlyMap<string, readonly string[]>
  /** The values of options that take one of a few. */
  readonly ofOptions: ReadonlyMap<string, readonly string[]>
}

function wordsOf(program: Command): Words {
  const ofChains = new Map<string, readonly string[]>()
  const ofOptions = new Map<string, readonly string[]>()
  const add = (command: Command, chain: string) => {
    const subcommands = command.commands.map((sub) => sub.name())
    const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    const options = command.options.flatMap(({ long }) => long ?? [])
    ofChains.set(chain, [...subcommands, ...values, ...options, '--help'])
    for (const { long, argChoices } of command.options) {
      if (long && argChoices !== undefined) ofOptions.set(long, argChoices)
    }
    for (const sub of command.commands) add(sub, `${chain} ${sub.name()}`.trim())
  }
  add(program, '')
  return { ofChains, ofOptions }
}

const casesOf = (words: ReadonlyMap<string, readonly string[]>) =>
  [...words].map(([word, rest]) => `    '${word}') words='${rest.join(' ')}' ;;`).join('\n')

/** The chain is the words up to the first option; an option with few values is followed by one of them. */
const BASH_BODY = ({ ofChains, ofOptions }: Words) => `  local chain='' words='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$word" in -*) break ;; esac
    chain="\${chain:+$chain }$word"
  done
  case "$chain" in
${casesOf(ofChains)}
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${casesOf(ofOptions)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`

const FISH_BODY = ({ ofChains, ofOptions }: Words) =>
  [...ofChains].flatMap(([chain, rest]) => {
    const seen = chain.split(' ').filter((word) => word !== '')
    const condition =
      seen.length === 0
        ? '__fish_use_subcommand'
        : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    return rest.map((word) => {
      const values = ofOptions.get(word)
      const what = !word.startsWith('--')
        ? `-a ${word}`
        : values === undefined
          ? `-l ${word.slice(2)}`
          : `-l ${word.slice(2)} -x -a '${values.join(' ')}'`
      return `complete -c creel -f -n '${condition}' ${what}`
    })
  })

const SCRIPTS: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: (words) => `_creel() {\n${BASH_BODY(words)}\n}\ncomplete -F _creel creel`,
  zsh: (words) =>
    `autoload -U +X bashcompinit && bashcompinit\n_creel() {\n${BASH_BODY(words)}\n}\ncomplete -F _creel creel`,
  fish: (words) => FISH_BODY(words).join('\n'),
}
