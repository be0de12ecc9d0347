/** A sentence of a comment or a document that a reader must decode. */
export interface Place {
  readonly path: string
  /** Line of its comment or paragraph, from 1. */
  readonly line: number
  readonly habit: string
  readonly sentence: string
}

/** Prose that belongs together: adjacent comment lines, or a paragraph. */
interface Block {
  readonly line: number
  readonly text: string
}

/** Habits of sentences, with the pattern by which each is found. */
const HABITS: Readonly<Record<string, RegExp>> = {
  'begins with a relative clause':
    /^(?:What|Who|Whose|Whom|Whoever|Whatever|Whichever|Where|Wherever|Those|That|So much|None|Nobody|Of) (?!if\b|happens when\b)/,
  'has a person in place of a role': /\b(?:nobody|whoever|somebody|anybody|no one|whose word)\b/i,
  'is archaic': /\b(?:in vain|anew|foretell\w*|thereby|hence|herein|whereof|besides)\b/i,
  'lets a program hear and know':
    /\b(?:hears?|is told|are told|was told|tells? (?!apart)\w+ (?:that|what|who)|knows? nothing|has a word|wants to know)\b/i,
  'lets a value stand or come':
    /\b(?:(?:stands?|stood) (?:in|on|for itself|there|here|beside|behind|before|above|below|alone|still|twice|once)|(?:came|comes|come) (?:of|to nothing|to be|what))\b/i,
}

/** The sentences of a TypeScript or Markdown file that have one of the habits. */
export function placesIn(path: string, text: string): Place[] {
  const blocks = path.endsWith('.md') ? paragraphsOf(text) : commentsOf(text)
  return blocks.flatMap(({ line, text: prose }) =>
    sentencesOf(prose).flatMap((sentence) =>
      Object.entries(HABITS)
        .filter(([, pattern]) => pattern.test(sentence) && !sentence.endsWith('?'))
        .map(([habit]) => ({ path, line, habit, sentence })),
    ),
  )
}

/** Sentences and parts of sentences, without code and without the names of tags. */
function sentencesOf(prose: string): string[] {
  return prose
    .replaceAll(/@(?:param \w+|returns|throws)/g, '')
    .replaceAll(/`[^`]*`/g, 'X')
    .split(/(?<=[.:;])\s+|\s+[—|]\s+/)
    .map((part) => part.trim().replace(/^[-–*_"(]+/, ''))
}

const BLOCK_START = /^\s*\/\*\*?\s?/
const LINE_COMMENT = /(?:^|\s)\/\/ (.*)$/
const QUOTED_SLASHES = /['"`].*\/\/ /
const TAG = /^@(?:param|returns|throws)/

/** The comments of a TypeScript file. A tag of a docstring begins a block. */
function commentsOf(text: string): Block[] {
  const blocks = new Blocks()
  let isInBlock = false
  for (const [index, line] of text.split('\n').entries()) {
    const isStart = !isInBlock && BLOCK_START.test(line)
    if (isInBlock || isStart) {
      const prose = line.replace(isStart ? BLOCK_START : /^\s*\*?(?!\/)\s?/, '').replace(/\*\/.*$/, '')
      if (isStart || TAG.test(prose)) blocks.end()
      blocks.add(index + 1, prose)
      isInBlock = !line.includes('*/')
      if (!isInBlock) blocks.end()
    } else {
      const prose = QUOTED_SLASHES.test(line) ? undefined : LINE_COMMENT.exec(line)?.[1]
      if (prose === undefined) blocks.end()
      else blocks.add(index + 1, prose)
    }
  }
  return blocks.all()
}

/** Paragraphs, list items and table rows of Markdown. Fenced code and headings are left out. */
function paragraphsOf(text: string): Block[] {
  const blocks = new Blocks()
  let isFenced = false
  for (const [index, line] of text.split('\n').entries()) {
    const isFence = /^\s*```/.test(line)
    if (isFence) isFenced = !isFenced
    if (isFence || isFenced || /^\s*$|^#/.test(line)) {
      blocks.end()
      continue
    }
    if (/^\s*(?:[-*]|\d+\.|\|)/.test(line)) blocks.end()
    blocks.add(
      index + 1,
      line
        .replace(/^\s*(?:[-*]|\d+\.)\s+|^\s*\|/, '')
        .replace(/\|\s*$/, '')
        .trim(),
    )
  }
  return blocks.all()
}

/** Collects lines of prose into blocks. */
class Blocks {
  readonly #done: Block[] = []
  #line = 0
  #text = ''

  add(line: number, prose: string): void {
    if (this.#text === '') this.#line = line
    this.#text += ` ${prose}`
  }

  end(): void {
    if (this.#text.trim() !== '') this.#done.push({ line: this.#line, text: this.#text })
    this.#text = ''
  }

  all(): Block[] {
    this.end()
    return this.#done
  }
}
