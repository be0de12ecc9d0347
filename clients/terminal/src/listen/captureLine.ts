import { SafeText, type Style } from '../output/safeText.ts'
import { clockText, sizeText } from '../output/text.ts'
import type { Shown } from './view.ts'

const VERDICT_STYLES: ReadonlyMap<string, Style> = new Map([
  ['verified', 'green'],
  ['failed', 'red'],
  ['unsigned', 'yellow'],
  ['unverifiable', 'yellow'],
])

/** Column limits for texts chosen by senders, so that the answer stays visible. */
const METHOD_COLUMNS_MAX = 12
const LABEL_COLUMNS_MAX = 32
const VERDICT_COLUMNS_MAX = 12

/** The local server's answer in a few characters: `200`, or the error. */
function answerText({ answer, note }: Shown): string {
  if (answer === null) return note ?? ''
  return answer.statusCode === null ? (answer.error ?? '') : String(answer.statusCode)
}

function answerStyle({ answer }: Shown): Style {
  if (answer === null) return 'dim'
  if (answer.statusCode === null || answer.statusCode >= 500) return 'red'
  return answer.statusCode >= 400 ? 'yellow' : 'green'
}

/**
 * One line a capture: time, method, path, label, verdict, size, local status, milliseconds.
 *
 * @param width in columns; on a narrow screen the path is shortened, then label and verdict
 */
export function captureLine(shown: Shown, width: number): SafeText {
  const { request, answer, replayId } = shown
  const query = request.queryString === null ? '' : `?${request.queryString}`
  const path = SafeText.of(`${request.path === '' ? '/' : request.path}${query}`)
  const verdict = request.verification?.verdict ?? ''
  const status = SafeText.of(answerText(shown)).cut(Math.max(8, Math.floor(width / 3)))
  const milliseconds = answer === null ? '' : `${answer.durationMs} ms`
  const before = [
    SafeText.styled('dim', clockText(request.receivedAt)),
    SafeText.styled('bold', SafeText.of(request.method).cut(METHOD_COLUMNS_MAX).padded(6)),
  ]
  const after = [
    ...(width < 72
      ? []
      : [
          SafeText.styled('cyan', SafeText.of(request.label ?? '').cut(LABEL_COLUMNS_MAX)),
          SafeText.styled(
            VERDICT_STYLES.get(verdict) ?? 'dim',
            SafeText.of(verdict).cut(VERDICT_COLUMNS_MAX),
          ),
        ]),
    SafeText.styled('dim', sizeText(request.sizeBytes)),
    SafeText.styled(answerStyle(shown), status.width === 0 ? '' : SafeText.joined(['→', status], ' ')),
    SafeText.styled('dim', milliseconds),
    SafeText.styled('magenta', replayId === undefined ? '' : 'replay'),
  ].filter((part) => part.width > 0)
  const taken = [...before, ...after].reduce((sum, part) => sum + part.width + 2, 0)
  return SafeText.joined([...before, path.cut(Math.max(6, width - taken)), ...after], '  ')
}
