import { styleText } from 'node:util'
import type { Shown } from '../listen/view.ts'
import { cut } from './requestText.ts'
import { clockText, harmless, sizeText } from './text.ts'

type Style = Parameters<typeof styleText>[0]

/** A text in a style, where the terminal and `NO_COLOR` allow it. */
const styled = (style: Style, text: string): string => (text === '' ? '' : styleText(style, text))

const VERDICT_STYLES: Readonly<Record<string, Style>> = {
  verified: 'green',
  failed: 'red',
  unsigned: 'yellow',
  unverifiable: 'yellow',
}

/** What the local server said, in a few characters: `200`, or why there was nothing. */
function answerText({ answer, note }: Shown): string {
  if (answer === null) return note ?? ''
  return answer.statusCode === null ? (answer.error ?? '') : String(answer.statusCode)
}

/** The colour of an answer. */
function answerStyle({ answer }: Shown): Style {
  if (answer === null) return 'dim'
  if (answer.statusCode === null || answer.statusCode >= 500) return 'red'
  return answer.statusCode >= 400 ? 'yellow' : 'green'
}

/**
 * One line a capture: time, method, path, label, verdict, size, local status, milliseconds.
 *
 * @param width in columns; on a narrow screen the path, then label and verdict give way
 */
export function captureLine(shown: Shown, width: number): string {
  const { request, answer, replayId } = shown
  const query = request.queryString === null ? '' : `?${request.queryString}`
  const path = harmless(`${request.path === '' ? '/' : request.path}${query}`)
  const verdict = request.verification?.verdict ?? ''
  const status = harmless(answerText(shown))
  const milliseconds = answer === null ? '' : `${answer.durationMs} ms`
  const isNarrow = width < 72
  const before = [clockText(request.receivedAt), harmless(request.method).padEnd(6)]
  const after = [
    ...(isNarrow ? [] : [harmless(request.label ?? ''), verdict]),
    sizeText(request.sizeBytes),
    status === '' ? '' : `→ ${cut(status, Math.max(8, Math.floor(width / 3)))}`,
    milliseconds,
    replayId === undefined ? '' : 'replay',
  ]
  const taken = [...before, ...after.filter((part) => part !== '')].reduce(
    (sum, part) => sum + Bun.stringWidth(part) + 2,
    0,
  )
  const styles: readonly Style[] = [
    ...(isNarrow ? [] : (['cyan', VERDICT_STYLES[verdict] ?? 'dim'] as const)),
    'dim',
    answerStyle(shown),
    'dim',
    'magenta',
  ]
  return [
    styled('dim', before[0] ?? ''),
    styled('bold', before[1] ?? ''),
    cut(path, Math.max(6, width - taken)),
    ...after.map((part, at) => styled(styles[at] ?? 'dim', part)),
  ]
    .filter((part) => part !== '')
    .join('  ')
}
