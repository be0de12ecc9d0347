import { styleText } from 'node:util'
import type { RequestDetail } from '../api/shapes.ts'
import { clockText, harmless, sizeText } from './text.ts'

/** How much of a body is shown where no more was asked for. */
const BODY_CHARACTERS = 20_000

/**
 * A captured request for people: what it is, its headers as they came, and its body, JSON indented.
 *
 * @param width of the screen in columns; longer header lines are cut
 */
export function requestText(request: RequestDetail, { width }: { width: number }): string[] {
  const { id, method, path, queryString, receivedAt, ip, sizeBytes, label, verification, state } = request
  const target = `${path === '' ? '/' : path}${queryString === null ? '' : `?${queryString}`}`
  const facts = [
    `#${id}`,
    `${receivedAt.slice(0, 10)} ${clockText(receivedAt)}`,
    ip === null ? '' : `from ${ip}`,
    sizeText(sizeBytes),
    label ?? '',
    state,
  ]
  return [
    styleText('bold', cut(harmless(`${method} ${target}`), width)),
    harmless(facts.filter((fact) => fact !== '').join('  ')),
    ...(verification === null ? [] : [harmless(`${verification.verdict}: ${verification.note}`)]),
    '',
    ...request.rawHeaders.map(({ name, value }) => {
      const plain = harmless(name)
      return `${styleText('cyan', plain)}: ${cut(harmless(value), Math.max(8, width - plain.length - 2))}`
    }),
    '',
    ...bodyText(request),
  ]
}

/** The body for people. */
export function bodyText({ body, bodyIsBinary, bodyTruncated, sizeBytes }: RequestDetail): string[] {
  if (body === null) return ['(no body)']
  const note = bodyTruncated ? [`(only the beginning of ${sizeText(sizeBytes)} was kept)`] : []
  if (bodyIsBinary) return [`(${sizeText(sizeBytes)} of binary data)`, ...note]
  const shown = indented(body)
  const rest =
    shown.length > BODY_CHARACTERS ? [`(and ${shown.length - BODY_CHARACTERS} more characters)`] : []
  return [...harmless(shown.slice(0, BODY_CHARACTERS), { keepLines: true }).split('\n'), ...rest, ...note]
}

/** JSON with a line a member, its numbers as they were written; other text as it is. */
function indented(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let depth = 0
  let result = ''
  // Strings, brackets, commas and colons, and everything else as it came: parsing would change the digits of numbers.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const newLine = `\n${'  '.repeat(depth)}`
    if (token === '{' || token === '[') {
      result += token
      depth += 1
      result += `\n${'  '.repeat(depth)}`
    } else if (token === '}' || token === ']') {
      depth -= 1
      const isEmpty = /[{[]\s*$/.test(result)
      result = isEmpty ? result.trimEnd() + token : `${result}\n${'  '.repeat(depth)}${token}`
    } else if (token === ',') result += `,${newLine}`
    else if (token === ':') result += ': '
    else result += token
  }
  return result
}

/** At most so many columns, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  return Bun.stringWidth(text) <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}
