import type { CapturedRequest, WholeRequest } from 'creel-client'
import { SafeText } from './safeText.ts'
import { dateTimeText, sizeText } from './text.ts'

/** A request, with its body as it is read if it is known to be encoded. */
type Readable = WholeRequest & Partial<Pick<CapturedRequest, 'decodedBody' | 'originalUntil'>>

/** Characters of a body shown by default. */
const BODY_CHARACTERS = 20_000
/** Levels of JSON after which lines are not indented further. */
const DEPTH_MAX = 32

/**
 * A captured request as text: summary, headers in their order, and body, with JSON indented.
 *
 * @param width of the screen in columns; longer header lines are cut
 */
export function requestText(request: Readable, { width }: { width: number }): SafeText[] {
  const { id, method, path, queryString, receivedAt, ip, sizeBytes, label, verification } = request
  const { eventId, senderAttempt, duplicateOf, redacted, redactedPaths, redactionFault, originalUntil } =
    request
  const target = `${path === '' ? '/' : path}${queryString === null ? '' : `?${queryString}`}`
  const facts = [
    `#${id}`,
    dateTimeText(receivedAt),
    ip === null ? '' : `from ${ip}`,
    sizeText(sizeBytes),
    label ?? '',
    eventId ? `event ${eventId}` : '',
    (senderAttempt ?? 1) === 1 ? '' : `attempt ${senderAttempt} of the sender`,
    duplicateOf ? `duplicate of #${duplicateOf}` : '',
    stateText(request),
  ]
  return [
    SafeText.styled('bold', SafeText.of(`${method} ${target}`).cut(width)),
    SafeText.of(facts.filter((fact) => fact !== '').join('  ')),
    ...(verification === null ? [] : [SafeText.of(`${verification.verdict}: ${verification.note}`)]),
    // Older services take nothing out.
    ...(redacted === true
      ? [SafeText.of(`taken out before storing: ${redactionFault ?? redactedPaths.join(', ')}`).cut(width)]
      : []),
    ...(originalUntil ? [SafeText.of(`replays send the original until ${originalUntil} at the latest`)] : []),
    // Older services have no notes.
    ...(request.note ? SafeText.lines(`note: ${request.note}`) : []),
    SafeText.of(''),
    ...request.rawHeaders.map(({ name, value }) => {
      const plain = SafeText.of(`${name}: `)
      const room = Math.max(8, width - plain.width)
      return SafeText.joined([SafeText.styled('cyan', name), ': ', SafeText.of(value).cut(room)])
    }),
    SafeText.of(''),
    ...bodyText(request),
  ]
}

type Outcome = Pick<WholeRequest, 'state'> & Partial<Pick<WholeRequest, 'deliveryCounts'>>

/** Whether the newest attempt of some action failed. An older service does not tell. */
export function hasFailures({ deliveryCounts: counts }: Outcome): boolean {
  return counts !== undefined && counts.failed + counts.deadLettered > 0
}

/** The state of a request; with several actions the results of all, e.g. `1 Failed, 2 Succeeded`. */
export function stateText({ state, deliveryCounts: counts }: Outcome): string {
  // Older services do not count.
  if (counts === undefined) return state
  const results: [number, string][] = [
    [counts.deadLettered, 'DeadLetter'],
    [counts.failed, 'Failed'],
    [counts.waiting, 'Pending'],
    [counts.succeeded, 'Succeeded'],
  ]
  const found = results.filter(([count]) => count > 0)
  if (found.length > 1) return found.map(([count, name]) => `${count} ${name}`).join(', ')
  const name = found[0]?.[1] ?? state
  return name === 'Failed' && (state === 'Errored' || state === 'Interrupted') ? state : name
}

/** Why a stored request is not what arrived, and is not sent from here; undefined if it is. */
export function lackOf({ bodyTruncated, shredded }: WholeRequest): string | undefined {
  if (shredded) return 'its content was destroyed with its key'
  return bodyTruncated ? 'its stored body is truncated' : undefined
}

/** Lines that show a body: indented JSON or text, shortened, or its size if it is binary. */
export function bodyText(request: Readable): SafeText[] {
  const { bodyTruncated, decodedBody = null, sizeBytes } = request
  const decoded = decodedBody?.text ?? null
  const body = decoded ?? request.body
  if (body === null) return [SafeText.of(`(${lackOf(request) ?? 'no body'})`)]
  const note = [
    ...(bodyTruncated ? [SafeText.of(`(truncated: the full body had ${sizeText(sizeBytes)})`)] : []),
    ...(decodedBody === null ? [] : [SafeText.of(`(arrived as ${decodedBody.encoding})`)]),
  ]
  if (request.bodyIsBinary && decoded === null)
    return [SafeText.of(`(${sizeText(sizeBytes)} of binary data)`), ...note]
  const { shown, restCount } = indented(body)
  const rest = restCount > 0 ? [SafeText.of(`(${restCount} more characters)`)] : []
  return [...SafeText.lines(shown), ...rest, ...note]
}

/** Tokens of JSON. A string that is longer than a shown body is cut: matching it whole would take seconds. */
const TOKENS = new RegExp(`"(?:[^"\\\\]|\\\\.){0,${BODY_CHARACTERS}}"?|[{}[\\],:]|[^\\s{}[\\],:"]+`, 'g')

/**
 * The beginning of JSON with a line for each member and its numbers unchanged, or of other text as it is, and the number
 * of characters that are left.
 */
function indented(text: string): { shown: string; restCount: number } {
  try {
    JSON.parse(text)
  } catch {
    return cut(text, 0)
  }
  let result = ''
  let read = text.length
  let depth = 0
  let last = ''
  // Works on tokens, because parsing would change the digits of numbers.
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const isAfterOpening = last === '{' || last === '['
    const isClosing = token === '}' || token === ']'
    if (isClosing) depth -= 1
    const isOnNewLine = last === ',' || isAfterOpening !== isClosing
    if (isOnNewLine) result += `\n${'  '.repeat(Math.min(depth, DEPTH_MAX))}`
    result += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth += 1
    last = token
    read = index + token.length
    if (result.length > BODY_CHARACTERS) break
  }
  return cut(result, text.length - read)
}

const cut = (text: string, restCount: number) => ({
  shown: text.slice(0, BODY_CHARACTERS),
  restCount: Math.max(0, text.length - BODY_CHARACTERS) + restCount,
})
