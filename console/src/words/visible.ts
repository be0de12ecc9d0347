/** Characters that reorder or hide text: marks, embeddings, overrides and isolates, blanks of no width. */
const DECEPTIVE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/**
 * Spells out every character that could make a text look like another one, so that names from senders cannot deceive.
 * For display only: copying and searching use the original text.
 */
export const visible = (text: string): string =>
  text.replace(DECEPTIVE, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)

const FORM = /^[\w.~%+*[\]-]+=[^\s<>{}"]*$/

/** The pairs of a form, decoded as far as they can be: the preview may end within an escape. */
function pairsOf(form: string): string {
  return form
    .split('&')
    .map((pair) => {
      const text = pair.replaceAll('+', ' ')
      try {
        return decodeURIComponent(text)
      } catch {
        return text
      }
    })
    .join(' · ')
}

/** The beginning of a body without its punctuation, so that words stand out. */
export function peek(preview: string | null): string {
  if (preview === null) return ''
  if (FORM.test(preview)) return visible(pairsOf(preview))
  // Only JSON has punctuation that says nothing.
  if (!/^\s*[[{]/.test(preview)) return visible(preview.replace(/\s+/g, ' ').trim())
  const words = preview
    .replace(/[\s{}"[\]]+/g, ' ')
    .replace(/ :\s?/g, ' ')
    .replace(/\s?,\s/g, '  ')
    // A comma directly between a number and a name.
    .replace(/(\d) ?,(?=\S)/g, '$1  ')
  return visible(words.trim())
}
