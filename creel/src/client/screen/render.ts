import { styleText } from 'node:util'
import type { Shown } from '../listen/view.ts'
import { captureLine } from '../output/captureLine.ts'
import { linkText } from '../output/plainView.ts'
import { cut, requestText } from '../output/requestText.ts'
import { harmless } from '../output/text.ts'
import { chosenItem, listed, type ScreenState } from './state.ts'

/** Size of the terminal in characters. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

const HELP = [
  '↑ ↓ k j      choose a capture',
  'enter        its headers and body; again, or esc, goes back',
  'r            replay it to the listeners',
  'e            edit it in $EDITOR and send that',
  'c            copy it as a curl command',
  '/            list only what holds a text; enter keeps it, esc drops it',
  'o            open it in the console',
  'g G          the oldest, the newest',
  '?            this page',
  'q            stop; the next start goes on from here',
]

/** The whole screen as lines, at most as many as it has rows, none wider than it is. */
export function render(state: ScreenState, size: ScreenSize): string[] {
  const head = header(state, size)
  const foot = footer(state, size)
  const room = Math.max(1, size.rows - head.length - foot.length)
  const body =
    state.mode === 'help' ? HELP : state.mode === 'details' ? details(state, size) : list(state, size, room)
  const from = state.mode === 'details' ? Math.min(state.scroll, Math.max(0, body.length - room)) : 0
  const shown = body.slice(from, from + room)
  const blank = Array.from({ length: room - shown.length }, () => '')
  return [...head, ...shown, ...blank, ...foot].map((text) => wrapped(text, size.columns)[0] ?? '')
}

function header({ facts, link, behind }: ScreenState, { columns }: ScreenSize): string[] {
  if (facts === undefined) return [cut('connecting', columns)]
  const mark = link.kind === 'connected' ? styleText('green', '●') : styleText('yellow', '○')
  const target = facts.target === null ? '' : ` → ${facts.target}`
  return [
    `${mark} ${styleText('bold', cut(harmless(facts.endpointName) + target, columns - 2))}`,
    styleText('dim', cut(facts.captureUrl, columns)),
    styleText(link.kind === 'connected' ? 'dim' : 'yellow', cut(linkText(link, behind), columns)),
  ]
}

function footer({ mode, filter, message }: ScreenState, { columns }: ScreenSize): string[] {
  if (mode === 'filter') return [cut(`/${filter}█`, columns)]
  const keys =
    mode === 'details'
      ? '↑↓ scroll  esc back  r replay  e edit  c curl  o console  q quit'
      : '↑↓ enter  r replay  e edit  c curl  / filter  o console  ? help  q quit'
  const about = message !== '' ? message : filter === '' ? keys : `only "${filter}"  (/ changes)   ${keys}`
  return [styleText('dim', cut(harmless(about), columns))]
}

/** The part of the list that the cursor is in. */
function list(state: ScreenState, { columns }: ScreenSize, room: number): string[] {
  const items = listed(state)
  if (items.length === 0) {
    return [
      styleText('dim', state.filter === '' ? 'Waiting for the first capture.' : 'Nothing holds that text.'),
    ]
  }
  const chosen = chosenItem(state)
  const at = chosen === undefined ? items.length - 1 : items.indexOf(chosen)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), items.length - room))
  return items.slice(from, from + room).map((item) => line(item, item === chosen, columns))
}

function line(item: Shown, isChosen: boolean, columns: number): string {
  const text = captureLine(item, columns - 2)
  return isChosen ? `${styleText('cyan', '›')} ${text}` : `  ${text}`
}

/** Lines of the chosen capture, and of what the local server said. */
function details(state: ScreenState, { columns }: ScreenSize): string[] {
  const item = chosenItem(state)
  if (item === undefined) return ['Nothing is chosen.']
  const { answer, note } = item
  const received = answer?.received ?? null
  const answered =
    answer === null
      ? [note ?? 'not sent']
      : [
          styleText(
            'bold',
            cut(
              harmless(`${answer.statusCode ?? answer.error} in ${answer.durationMs} ms from ${answer.url}`),
              columns,
            ),
          ),
          ...(received === null
            ? []
            : received.headers.map(([name, value]) => cut(harmless(`${name}: ${value}`), columns))),
          ...(received === null || received.body.length === 0
            ? []
            : [
                '',
                ...harmless(Buffer.from(received.body).toString('utf8').slice(0, 4000), {
                  keepLines: true,
                }).split('\n'),
              ]),
        ]
  const lines = [
    ...requestText(item.request, { width: columns }),
    '',
    styleText('dim', '─'.repeat(Math.min(columns, 40))),
    ...answered,
  ]
  return lines.flatMap((text) => wrapped(text, columns))
}

/** A line that is too long goes on in the next. */
function wrapped(text: string, columns: number): string[] {
  return Bun.stringWidth(text) <= columns
    ? [text]
    : Bun.wrapAnsi(text, columns, { hard: true, trim: false }).split('\n')
}
