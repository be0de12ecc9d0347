import type { Line, Piece } from './jsonLines.ts'

const TOKEN = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<[^>]*>|[^<]+/g

/** XML with one tag or text a line, indented. Only blanks between tags change. */
export function xmlLines(source: string): Line[] {
  const lines: Line[] = []
  let depth = 0
  for (const [token] of source.matchAll(TOKEN)) {
    const text = token.trim()
    if (text === '') continue
    const closes = text.startsWith('</')
    if (closes) depth = Math.max(0, depth - 1)
    const kind: Piece['kind'] =
      text.startsWith('<!') || text.startsWith('<?') ? 'mark' : text.startsWith('<') ? 'name' : 'text'
    const last = lines.at(-1)
    // <a>text</a> stays on one line.
    const isShort = last !== undefined && last.depth === depth && last.pieces.length === 2 && closes
    if (
      kind === 'text' &&
      last?.pieces.length === 1 &&
      last.pieces[0]?.kind === 'name' &&
      text.length < 200 &&
      last.depth === depth - 1
    ) {
      lines[lines.length - 1] = { ...last, pieces: [...last.pieces, { kind, text }] }
    } else if (isShort) {
      lines[lines.length - 1] = { ...last, pieces: [...last.pieces, { kind, text }] }
    } else {
      lines.push({ depth, pieces: [{ kind, text }], path: '' })
    }
    if (kind === 'name' && !closes && !text.endsWith('/>')) depth += 1
  }
  return lines
}
