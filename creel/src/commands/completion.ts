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
  /** Chains that are followed by, and options that take, names of a kind that the service knows. */
  readonly asking: ReadonlyMap<string, string>
}

/** Kinds of names that `creel names` tells, by what the arguments and options that take them are called. */
const KINDS: Readonly<Record<string, string>> = { endpoint: 'endpoints', provider: 'samples' }

function wordsOf(program: Command): Words {
  const ofChains = new Map<string, readonly string[]>()
  const ofOptions = new Map<string, readonly string[]>()
  const asking = new Map<string, string>()
  const add = (command: Command, chain: string) => {
    const subcommands = command.commands.map((sub) => sub.name())
    const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    const options = command.options.flatMap(({ long }) => long ?? [])
    ofChains.set(chain, [...subcommands, ...values, ...options, '--help'])
    for (const { long, short, flags, argChoices } of command.options) {
      if (long && argChoices !== undefined) ofOptions.set(long, argChoices)
      const kind = KINDS[/<(\w+)>/.exec(flags)?.[1] ?? '']
      if (kind === undefined) continue
      for (const name of [long, short]) if (name) asking.set(name, kind)
    }
    const kind = KINDS[command.registeredArguments[0]?.name() ?? '']
    if (kind !== undefined) asking.set(chain, kind)
    for (const sub of command.commands) add(sub, `${chain} ${sub.name()}`.trim())
  }
  add(program, '')
  return { ofChains, ofOptions, asking }
}

const casesOf = (words: ReadonlyMap<string, readonly string[]>) =>
  [...words].map(([word, rest]) => `    '${word}') words='${rest.join(' ')}' ;;`).join('\n')

/** The chain is the words up to the first option; an option with few values is followed by one of them. */
const asks = (asking: ReadonlyMap<string, string>, isWanted: (word: string) => boolean) =>
  [...asking].filter(([word]) => isWanted(word))

const BASH_BODY = ({ ofChains, ofOptions, asking }: Words) => `  local chain='' words='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$word" in -*) break ;; esac
    chain="\${chain:+$chain }$word"
  done
  case "$chain" in
${casesOf(ofChains)}
  esac
  case "$chain" in
${asks(asking, (word) => !word.startsWith('-'))
  .map(([chain, kind]) => `    '${chain}') words="$words $(creel names ${kind} 2>/dev/null)" ;;`)
  .join('\n')}
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${casesOf(ofOptions)}
${asks(asking, (word) => word.startsWith('-'))
  .map(([option, kind]) => `    '${option}') words=$(creel names ${kind} 2>/dev/null) ;;`)
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`

const FISH_BODY = ({ ofChains, ofOptions, asking }: Words) =>
  [...ofChains].flatMap(([chain, rest]) => {
    const seen = chain.split(' ').filter((word) => word !== '')
    const condition =
      seen.length === 0
        ? '__fish_use_subcommand'
        : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    const kind = asking.get(chain)
    const names =
      kind === undefined ? [] : [`complete -c creel -f -n '${condition}' -a '(creel names ${kind})'`]
    const lines = rest.map((word) => {
      const asked = asking.get(word)
      if (asked !== undefined) {
        return `complete -c creel -f -n '${condition}' -l ${word.slice(2)} -x -a '(creel names ${asked})'`
      }
      const values = ofOptions.get(word)
      const what = !word.startsWith('--')
        ? `-a ${word}`
        : values === undefined
          ? `-l ${word.slice(2)}`
          : `-l ${word.slice(2)} -x -a '${values.join(' ')}'`
      return `complete -c creel -f -n '${condition}' ${what}`
    })
    return [...lines, ...names]
  })

const SCRIPTS: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: (words) => `_creel() {\n${BASH_BODY(words)}\n}\ncomplete -F _creel creel`,
  zsh: (words) =>
    `autoload -U +X bashcompinit && bashcompinit\n_creel() {\n${BASH_BODY(words)}\n}\ncomplete -F _creel creel`,
  fish: (words) => FISH_BODY(words).join('\n'),
}
