import { type Path, parsePath } from '../conditions/index.ts'
import type { ItemCode } from '../issues.ts'

/** The most characters of a template. */
export const MAX_TEMPLATE_LENGTH = 4000

/** A template as a sequence of texts and placeholders. */
export type Template = readonly (string | Path)[]

/** The reason why a text is not a template; `reason` is a sentence that says what would be right. */
export interface TemplateProblem {
  readonly code: Extract<ItemCode, 'bad_template' | 'too_long'>
  readonly reason: string
}

const OPEN = '{{'
const CLOSE = '}}'

/**
 * Reads text with placeholders, `Invoice {{ body.data.id }}`, for messages and rules. `\{{` is a
 * literal `{{`. A placeholder ends at the first `}}` outside of a quoted member name.
 *
 * @returns the template, or every wrong placeholder in order
 */
export function parseTemplate(text: string): { template: Template } | { problems: TemplateProblem[] } {
  if (text.length > MAX_TEMPLATE_LENGTH && [...text].length > MAX_TEMPLATE_LENGTH) {
    const reason = `A template has at most ${MAX_TEMPLATE_LENGTH} characters.`
    return { problems: [{ code: 'too_long', reason }] }
  }
  const parts: (string | Path)[] = []
  const problems: TemplateProblem[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    const open = text.indexOf(OPEN, at)
    if (open === -1) break
    if (text[open - 1] === '\\' && open > at) {
      literal += `${text.slice(at, open - 1)}${OPEN}`
      at = open + OPEN.length
      continue
    }
    literal += text.slice(at, open)
    const close = closingBraces(text, open + OPEN.length)
    if (close === -1) {
      problems.push({
        code: 'bad_template',
        reason: `The placeholder at character ${open + 1} is not closed: write {{ path }}, or \\{{ for literal braces.`,
      })
      return { problems }
    }
    const parsed = parsePath(text.slice(open + OPEN.length, close).trim(), {
      every: false,
      deliveryFacts: true,
    })
    if ('path' in parsed) {
      if (literal !== '') parts.push(literal)
      parts.push(parsed.path)
      literal = ''
    } else {
      problems.push({ code: 'bad_template', reason: `In a placeholder: ${parsed.problem.reason}` })
    }
    at = close + CLOSE.length
  }
  literal += text.slice(at)
  if (literal !== '') parts.push(literal)
  return problems.length > 0 ? { problems } : { template: parts }
}

/** Index of the braces that close the placeholder which began before `from`; -1 when there are none. */
function closingBraces(text: string, from: number): number {
  let quoted = false
  for (let at = from; at < text.length; at += 1) {
    const mark = text[at]
    if (quoted && mark === '\\') at += 1
    else if (mark === '"') quoted = !quoted
    else if (!quoted && text.startsWith(CLOSE, at)) return at
  }
  return -1
}
