import { visible } from './visible.ts'

/** The beginning of a body without its punctuation, so that words stand out. */
export function peek(preview: string | null): string {
  if (preview === null) return ''
  const words = preview
    .replace(/[\s{}"[\]]+/g, ' ')
    .replace(/ :\s?/g, ' ')
    .replace(/\s?,\s/g, '  ')
    // A comma directly between a number and a name.
    .replace(/(\d) ?,(?=\S)/g, '$1  ')
  return visible(words.trim())
}
