import { captureLine } from '../listen/captureLine.ts'
import { linkText } from '../listen/plainView.ts'
import type { Shown } from '../listen/view.ts'
import { requestText } from '../output/requestText.ts'
import { SafeText } from '../output/safeText.ts'
import { chosenItem, listed, type ScreenState } from './state.ts'

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

const HELP = [
  '↑ ↓ k j      select a capture',
  'enter        show headers and body; enter or esc goes back',
  'r            replay to the listeners',
  'e            edit in $EDITOR and send',
  'c            copy as a curl command',
  '/            filter by text; enter keeps the filter, esc clears it',
  'o            open in the console',
  'g G          go to the oldest, the newest',
  '?            show this help',
  'q            quit; the next start resumes here',
].map(SafeText.of)

const BLANK = SafeText.of('')

/** The whole screen as lines that fit its size. */
export function render(state: ScreenState, size: ScreenSize): SafeText[] {
  const head = header(state, size)
  const foot = footer(state, size)
  const room = Math.max(1, size.rows - head.length - foot.length)
  const body =
    state.mode === 'help' ? HELP : state.mode === 'details' ? details(state, size) : list(state, size, room)
  const from = state.mode === 'details' ? Math.min(state.scroll, Math.max(0, body.length - room)) : 0
  const shown = body.slice(from, from + room)
  const blank = Array.from({ length: room - shown.length }, () => BLANK)
  return [...head, ...shown, ...blank, ...foot].map((text) => text.wrapped(size.columns)[0] ?? BLANK)
}

function header({ facts, link, behind }: ScreenState, { columns }: ScreenSize): SafeText[] {
  if (facts === undefined) return [SafeText.of('connecting').cut(columns)]
  const isConnected = link.kind === 'connected'
  const mark = isConnected ? SafeText.styled('green', '●') : SafeText.styled('yellow', '○')
  const target = facts.target === null ? '' : ` → ${facts.target}`
  const title = SafeText.of(facts.endpointName + target).cut(columns - 2)
  const state = SafeText.of(linkText(link, behind)).cut(columns)
  return [
    SafeText.joined([mark, SafeText.styled('bold', title)], ' '),
    SafeText.styled('dim', SafeText.of(facts.captureUrl).cut(columns)),
    SafeText.styled(isConnected ? 'dim' : 'yellow', state),
  ]
}

/**
 * The keys, or a message. A message is not cut, because it may be an address to open by hand; it takes at most half of
 * the rows.
 */
function footer({ mode, filter, message }: ScreenState, { columns, rows }: ScreenSize): SafeText[] {
  if (mode === 'filter') return [SafeText.of(`/${filter}█`).cut(columns)]
  const keys =
    mode === 'details'
      ? '↑↓ scroll  esc back  r replay  e edit  c curl  o console  q quit'
      : '↑↓ enter  r replay  e edit  c curl  / filter  o console  ? help  q quit'
  if (message !== '') {
    const lines = SafeText.of(message).wrapped(columns)
    return lines.slice(0, Math.max(1, Math.floor(rows / 2))).map((line) => SafeText.styled('dim', line))
  }
  const about = filter === '' ? keys : `filter "${filter}"  (/ edit)   ${keys}`
  return [SafeText.styled('dim', SafeText.of(about).cut(columns))]
}

/** The part of the list around the cursor. */
function list(state: ScreenState, { columns }: ScreenSize, room: number): SafeText[] {
  const items = listed(state)
  if (items.length === 0) {
    const why = state.filter === '' ? 'Waiting for the first capture.' : 'No capture contains this text.'
    return [SafeText.styled('dim', why)]
  }
  const chosen = chosenItem(state)
  const at = chosen === undefined ? items.length - 1 : items.indexOf(chosen)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), items.length - room))
  return items.slice(from, from + room).map((item) => line(item, item === chosen, columns))
}

function line(item: Shown, isChosen: boolean, columns: number): SafeText {
  const mark = isChosen ? SafeText.styled('cyan', '›') : ' '
  return SafeText.joined([mark, captureLine(item, columns - 2)], ' ')
}

/** The lines of the item that was shown last: they are many, and the screen is drawn at every key and capture. */
let drawn: { readonly item: Shown; readonly columns: number; readonly lines: SafeText[] } | undefined

/** Lines about the chosen capture and the local server's answer. */
function details(state: ScreenState, { columns }: ScreenSize): SafeText[] {
  const item = chosenItem(state)
  if (item === undefined) return [SafeText.of('No capture is selected.')]
  if (drawn?.item !== item || drawn.columns !== columns)
    drawn = { item, columns, lines: linesOf(item, columns) }
  return drawn.lines
}

function linesOf(item: Shown, columns: number): SafeText[] {
  const lines = [
    ...requestText(item.request, { width: columns }),
    BLANK,
    SafeText.styled('dim', '─'.repeat(Math.min(columns, 40))),
    ...answered(item, columns),
  ]
  return lines.flatMap((text) => text.wrapped(columns))
}

/** Characters of an answer's body that are shown. */
const ANSWER_CHARACTERS = 4000

function answered({ answer, note }: Shown, columns: number): SafeText[] {
  if (answer === null) return [SafeText.of(note ?? 'not sent')]
  const { statusCode, error, durationMs, url, received } = answer
  const summary = SafeText.of(`${statusCode ?? error} in ${durationMs} ms from ${url}`).cut(columns)
  const body = Buffer.from(received?.body ?? '')
  return [
    SafeText.styled('bold', summary),
    ...(received?.headers ?? []).map(([name, value]) => SafeText.of(`${name}: ${value}`).cut(columns)),
    ...(body.length === 0 ? [] : [BLANK, ...SafeText.lines(body.toString().slice(0, ANSWER_CHARACTERS))]),
  ]
}
