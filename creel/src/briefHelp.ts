import { COMMAND_GROUPS, type CommandGroup, QUICK_START } from './commandTable.ts'

const NAME_COLUMNS = 13
const LINE_COLUMNS_MAX = 78

/** The text of `creel help`: lines of at most 80 columns, short enough for one screen. */
export function briefHelp(): string[] {
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
