/** The longest note. */
const NOTE_LENGTH_MAX = 300

/** A note: one sentence of at most 300 characters, cut at a character boundary. */
export function noteOf(text: string): string {
  const started = text.startsWith('the ') ? `The ${text.slice(4)}` : text
  const sentence = started.endsWith('.') ? started : `${started}.`
  if (sentence.length <= NOTE_LENGTH_MAX) return sentence
  return `${[...sentence.slice(0, NOTE_LENGTH_MAX - 2)].slice(0, -1).join('')}…`
}
