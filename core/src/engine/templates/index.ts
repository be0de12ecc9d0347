import { type Path, parsePath, type ReadRoot, readValue } from '../conditions/index.ts'
import type { ItemCode } from '../issues.ts'
import { type Node, writeJson } from '../json/index.ts'

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

/** How values are inserted into the text; lengths are in characters. */
export interface RenderOptions {
  /** The most characters of one value; the text around values is never cut here. */
  readonly cutAt?: number
  /**
   * Applied to each value after it was cut, never to the template's own text.
   *
   * @param isString whether the value is a string; others are numbers, booleans, or compact JSON
   */
  readonly escape?: (text: string, isString: boolean) => string
  /**
   * Rendering stops once the text is longer, so that placeholders of long values outgrow neither memory nor time: a
   * value is escaped up to where the text is too long.
   */
  readonly enough?: number
}

/** Fills in every placeholder: a missing value is "", an object or a list its compact JSON. Never throws. */
export function renderTemplate(template: Template, root: ReadRoot, options: RenderOptions = {}): string {
  const pieces = renderInSteps(template, root, options)
  for (;;) {
    const piece = pieces.next()
    if (piece.done === true) return piece.value
  }
}

/** {@link renderTemplate} in pieces: the generator yields after each placeholder. */
export function* renderInSteps(
  template: Template,
  root: ReadRoot,
  { cutAt, escape: escaped, enough }: RenderOptions,
): Generator<void, string> {
  let text = ''
  for (const part of template) {
    if (enough !== undefined && text.length > enough) return text
    if (typeof part === 'string') {
      text += part
      continue
    }
    const node = readValue(root, part)
    const whole = cut(textOfNode(node), cutAt)
    const value = enough === undefined ? whole : whole.slice(0, enough - text.length + 1)
    text += escaped === undefined ? value : escaped(value, typeof node === 'string')
    yield
  }
  return text
}

/** A value as readable text: text unchanged, null and a missing value as "", anything else as compact JSON. */
function textOfNode(node: Node): string {
  if (node === undefined || node === null) return ''
  return typeof node === 'string' ? node : writeJson(node)
}

/** Cut between two characters, never inside one. */
function cut(text: string, length: number | undefined): string {
  if (length === undefined || text.length <= length) return text
  const characters: string[] = []
  for (const character of text) {
    if (characters.length === length) return characters.join('')
    characters.push(character)
  }
  return text
}
