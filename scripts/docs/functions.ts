import { arityOf, type RuleFunction } from '../../core/src/engine/rules/functions/define.ts'
import { FUNCTION_GROUPS } from '../../core/src/engine/rules/functions/index.ts'
import { DOCUMENT_LIMITS } from '../../core/src/engine/rules/language/limits.ts'

/** The text of docs/rules-functions.md, made from the table of functions; `bun run docs` writes it. */
export function functionsPage(): string {
  const groups = Object.entries(FUNCTION_GROUPS).map(([title, group]) => {
    const rows = Object.entries<RuleFunction>(group).map(
      ([name, entry]) =>
        `| \`${name}(${parametersInWords(entry)})\` | ${argumentsInWords(entry)} | ${entry.result} | ${entry.summary} |`,
    )
    return [
      `## ${title}`,
      '',
      '| function | takes | gives | what it does |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n')
  })
  return `${INTRODUCTION}\n\n${groups.join('\n\n')}\n`
}

const INTRODUCTION = `# Functions of \`compute\`

<!-- Printed from core/src/engine/rules/functions by \`bun run docs\`; do not edit. -->

\`{"op":"compute","path":"body.cents","fn":"round","args":[{"fn":"multiply","args":["body.amount",100]}]}\`

An argument is a path (\`"body.amount"\`; text is always a path), a number, \`true\`, \`false\`, \`null\`, literal text
(\`{"literal":"EUR"}\`), a nested call (at most ${DOCUMENT_LIMITS.callDepth} deep), and in a step that writes a header
\`{"raw":"body"}\`, the exact bytes to be sent. \`{"secret":"signing"}\`, the action's signing secret, may stand as the
key of an HMAC only; \`{"secret":"signing","decode":"base64"}\` for a receiver that reads its key as Base64.

A missing path is \`null\`. If a function takes text, numbers and booleans are text too and \`null\` is ""; if it takes a number,
text that is strictly a number will do. Anything else faults: nothing is sent, and the attempt says why. Numbers
are exact decimals of 40 digits and print without exponent. Lengths count code points. A result has at most 1 MiB.`

function parametersInWords({ parameters, repeats }: RuleFunction): string {
  const names = parameters.map(({ name, fallback }) =>
    fallback === undefined ? name : `${name}=${fallback.words}`,
  )
  return `${names.join(', ')}${repeats === null ? '' : ', …'}`
}

function argumentsInWords(entry: RuleFunction): string {
  const { least, most } = arityOf(entry)
  if (most === 0) return 'nothing'
  const kinds = entry.parameters.map(({ kind }) => kind.name).join(', ')
  return entry.repeats === null ? kinds : `${least}-${most} of ${kinds}`
}
