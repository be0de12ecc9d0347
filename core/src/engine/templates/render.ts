import { type ReadRoot, readValue } from '../conditions/index.ts'
import { type Node, writeJson } from '../json/index.ts'
import type { Template } from './template.ts'

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
