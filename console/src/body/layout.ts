import type { RequestDetail } from '../trpc.ts'
import { base64Of, bytesOfBase64, utf8Of } from '../words/copyAs.ts'
import { jsonLines, type Line, memberPath, type Piece } from '../words/jsonLines.ts'

/** Markup that a `<` may begin, with its end; the last is a tag. */
const MARKUP = [
  { begin: '<!--', end: '-->' },
  { begin: '<![CDATA[', end: ']]>' },
  { begin: '<', end: '>' },
] as const

/**
 * The tags and texts of XML. A closing mark that is missing is searched for only once: anyone can send a body of `<`
 * only, and the time must not grow with its square.
 */
function tokensOf(source: string): string[] {
  const tokens: string[] = []
  let known: readonly (typeof MARKUP)[number][] = MARKUP
  for (let at = 0; at < source.length; ) {
    const markup = known.find(({ begin }) => source.startsWith(begin, at))
    const found = source.indexOf(markup?.end ?? '<', at + (markup?.begin.length ?? 0))
    if (found < 0 && (markup === undefined || markup.begin === '<')) return [...tokens, source.slice(at)]
    if (found < 0) known = known.filter((one) => one !== markup)
    else {
      const next = found + (markup?.end.length ?? 0)
      tokens.push(source.slice(at, next))
      at = next
    }
  }
  return tokens
}

/** XML with one tag or text a line, indented. Only blanks between tags change. */
function xmlLines(source: string): Line[] {
  const lines: Line[] = []
  let depth = 0
  for (const token of tokensOf(source)) {
    const text = token.trim()
    if (text === '') continue
    const closes = text.startsWith('</')
    if (closes) depth = Math.max(0, depth - 1)
    const kind: Piece['kind'] =
      text.startsWith('<!') || text.startsWith('<?') ? 'mark' : text.startsWith('<') ? 'name' : 'text'
    const last = lines.at(-1)
    const isOpened = last?.pieces.length === 1 && last.pieces[0]?.kind === 'name' && last.depth === depth - 1
    // <a>text</a> stays on one line.
    const isShort = isOpened
      ? kind === 'text' && text.length < 200
      : closes && last?.pieces.length === 2 && last.depth === depth
    if (isShort && last !== undefined) {
      lines[lines.length - 1] = { ...last, pieces: [...last.pieces, { kind, text }] }
    } else {
      lines.push({ depth, pieces: [{ kind, text }], path: '' })
    }
    if (kind === 'name' && !closes && !text.endsWith('/>')) depth += 1
  }
  return lines
}

/** A body as it was captured or recorded. */
export interface BodySource {
  /** Text, or base64 when `isBinary`; null when empty. */
  readonly body: string | null
  readonly isBinary: boolean
  readonly isTruncated: boolean
  readonly contentType: string | null
  readonly sizeBytes: number
  /** The format in which conditions and rules read the body, if it is known: lines of another format have no paths. */
  readonly bodyKind?: RequestDetail['bodyKind'] | undefined
}

export interface Layout {
  /** Formatted JSON, form fields or XML; null for other content. */
  readonly lines: readonly Line[] | null
  readonly parts: readonly Part[] | null
  readonly preview: 'image' | 'html' | null
  readonly extension: string
}

/** Longer bodies are shown raw and as hex only: formatted, they would be too much to scroll. */
const LAYOUT_CHARACTERS_MAX = 2_000_000

/**
 * Finds the views of a body. If its type is not conclusive, its content decides: as for conditions, a JSON object or
 * list is JSON although it is labelled as a form.
 */
export function layoutOf({ body, bodyKind, isBinary, contentType }: BodySource): Layout {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  const preview = type.startsWith('image/') ? 'image' : type === 'text/html' ? 'html' : null
  if (body === null || body.length > LAYOUT_CHARACTERS_MAX) {
    return { lines: null, parts: null, preview, extension: 'bin' }
  }
  const parts = type.startsWith('multipart/') && body !== '' ? partsOf(body, isBinary, contentType) : null
  if (isBinary || parts !== null) {
    return { lines: null, parts, preview, extension: type.split('/')[1]?.replace(/\W.*/, '') || 'bin' }
  }
  const isForm = type === 'application/x-www-form-urlencoded'
  const text = body.replace(/^\ufeff/, '')
  const json = (isForm ? /^\s*[[{]/ : /^\s*[[{"\d\-tfn]/).test(text) ? jsonLines(text) : null
  const read = (lines: Line[], kind: string) =>
    bodyKind === undefined || bodyKind === kind ? lines : lines.map((line) => ({ ...line, path: '' }))
  if (json !== null) return { lines: read(json, 'json'), parts, preview, extension: 'json' }
  if (isForm) return { lines: read(formLines(text), 'form'), parts, preview, extension: 'txt' }
  const isXml = /[/+]xml$/.test(type) || /^\s*<\?xml/.test(body)
  return {
    lines: isXml ? xmlLines(body) : null,
    parts,
    preview,
    extension: isXml ? 'xml' : preview === 'html' ? 'html' : 'txt',
  }
}

/** Browsers are slow to lay out lines of megabytes, so longer lines are split. */
const LINE_CHARACTERS_MAX = 4000

/** Text line by line. Only the first piece of a long line has a number. */
export function rawLines(body: string): Line[] {
  const lines: Line[] = []
  for (const [at, text] of body.split('\n').entries()) {
    for (let from = 0; from === 0 || from < text.length; from += LINE_CHARACTERS_MAX) {
      lines.push({
        depth: 0,
        path: '',
        pieces: [{ kind: 'mark', text: text.slice(from, from + LINE_CHARACTERS_MAX) }],
        number: from === 0 ? at + 1 : null,
      })
    }
  }
  return lines
}

/** The fields of a form. A name that is repeated is the path of a list, so each of its fields has an index. */
function formLines(body: string): Line[] {
  // The parser would take away a question mark at the beginning.
  const fields = [...new URLSearchParams(`&${body}`)]
  const counts = new Map<string, { all: number; read: number }>()
  for (const [name] of fields) counts.set(name, { all: (counts.get(name)?.all ?? 0) + 1, read: 0 })
  return fields.map(([name, value]) => {
    const path = memberPath('body', name)
    const count = counts.get(name)
    return {
      depth: 0,
      path: count === undefined || count.all === 1 ? path : `${path}[${count.read++}]`,
      pieces: [
        { kind: 'name', text: name },
        { kind: 'mark', text: ' = ' },
        { kind: 'text', text: value },
      ],
    }
  })
}

export interface Part {
  readonly name: string
  readonly filename: string | null
  readonly type: string | null
  readonly content: Uint8Array<ArrayBuffer>
  /** Text of a short part that is text; else null. */
  readonly text: string | null
}

const TEXT_MAX = 4_000

/**
 * The parts of a multipart body.
 *
 * @param body text, or base64 when `isBinary`
 * @returns null for any other body
 */
function partsOf(body: string, isBinary: boolean, contentType: string | null): Part[] | null {
  const found = /^multipart\/[^;]*;.*?boundary=(?:"([^"]+)"|([^;\s]+))/is.exec(contentType ?? '')
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) return null
  // One character a byte, so that positions in the text are positions in the bytes.
  const latin = atob(isBinary ? body : base64Of(body))
  const pieces = `\r\n${latin}`.split(`\r\n--${boundary}`).slice(1)
  return pieces.filter((piece) => !piece.startsWith('--')).map(partOf)
}

function partOf(piece: string): Part {
  const end = piece.indexOf('\r\n\r\n')
  const head = new TextDecoder().decode(bytesOf(end < 0 ? '' : piece.slice(0, end)))
  const content = end < 0 ? '' : piece.slice(end + 4)
  return {
    name: /[;\s]name="([^"]*)"/i.exec(head)?.[1] ?? '',
    filename: /filename="([^"]*)"/i.exec(head)?.[1] ?? null,
    type: /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1] ?? null,
    content: bytesOf(content),
    text: textOf(content),
  }
}

function textOf(latin: string): string | null {
  const text = latin.length > TEXT_MAX ? null : utf8Of(bytesOf(latin))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells bytes from text
  return text === null || /[\0-\x08\x0e-\x1f]/.test(text) ? null : text
}

/** Bytes from characters, one each. */
const bytesOf = (latin: string) => bytesOfBase64(btoa(latin))
