import { printText } from '@creel/terminal/output/print'
import { SafeText } from '@creel/terminal/output/safeText'
import { Argument, type Command } from 'commander'
import type { ProgramTools } from '../programTools.ts'

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
