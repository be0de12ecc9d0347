import { Argument, type Command } from 'commander'
import { printText } from './print.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** `creel completion <shell>` */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script, e.g. for `source <(creel completion bash)`')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action((shell: Shell) => printText(SCRIPTS[shell](wordsOf(program))))
}

/** What may follow each chain of commands: `''` for the program itself, `key create` for a subcommand. */
type Words = ReadonlyMap<string, readonly string[]>

function wordsOf(command: Command, path = ''): Words {
  const subcommands = command.commands.map((sub) => sub.name())
  const options = command.options.flatMap((option) => option.long ?? [])
  const words = new Map<string, readonly string[]>([[path, [...subcommands, ...options, '--help']]])
  for (const sub of command.commands) {
    for (const [chain, rest] of wordsOf(sub, `${path} ${sub.name()}`.trim())) words.set(chain, rest)
  }
  return words
}

const casesOf = (words: Words) =>
  [...words].map(([chain, rest]) => `    '${chain}') words='${rest.join(' ')}' ;;`).join('\n')

/** The chain of commands that the line holds so far: words up to the first option. */
const BASH_BODY = (words: Words) => `  local chain='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    chain="\${chain:+$chain }$word"
  done
  local words=''
  case "$chain" in
${casesOf(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`

const SCRIPTS: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: (words) => `_creel() {\n${BASH_BODY(words)}\n}\ncomplete -F _creel creel`,
  zsh: (words) =>
    `autoload -U +X bashcompinit && bashcompinit\n_creel() {\n${BASH_BODY(words)}\n}\ncomplete -F _creel creel`,
  fish: (words) =>
    [...words]
      .flatMap(([chain, rest]) => {
        const seen = chain.split(' ').filter((word) => word !== '')
        const condition =
          seen.length === 0
            ? '__fish_use_subcommand'
            : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
        return rest.map((word) =>
          word.startsWith('--')
            ? `complete -c creel -f -n '${condition}' -l ${word.slice(2)}`
            : `complete -c creel -f -n '${condition}' -a ${word}`,
        )
      })
      .join('\n'),
}
