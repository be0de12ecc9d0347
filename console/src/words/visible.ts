/** Characters that reorder or hide the text around them: marks, embeddings, overrides and isolates, blanks of no width. */
const DECEPTIVE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/**
 * The text with every character that would make it look like another one spelled out, so that a name that somebody sent
 * reads as it is. For the eye only: what is copied or searched is the text itself.
 */
export const visible = (text: string): string =>
  text.replace(DECEPTIVE, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
