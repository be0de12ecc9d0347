import { visible } from './visible.ts'

/** The beginning of a body without the marks of its format, so that words are told apart by eye. */
export function peek(preview: string | null): string {
  if (preview === null) return ''
  const words = preview
    .replace(/[\s{}"[\]]+/g, ' ')
    .replace(/ :\s?/g, ' ')
    .replace(/\s?,\s/g, '  ')
    // A number stands right before the comma, and a name right after it.
    .replace(/(\d) ?,(?=\S)/g, '$1  ')
  return visible(words.trim())
}
