/** Characters that reorder or hide text: marks, embeddings, overrides and isolates, blanks of no width. */
const DECEPTIVE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/**
 * Spells out every character that could make a text look like another one, so that names from senders cannot deceive.
 * For display only: copying and searching use the original text.
 */
export const visible = (text: string): string =>
  text.replace(DECEPTIVE, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
