import type { Query } from '../api/apiClient.ts'
import type { RequestDetail } from '../api/shapes.ts'
import { usageError } from '../clientError.ts'
import { requiredMoment } from '../words.ts'

/** Words of the list's search, and the filters of the API that they stand for. */
const WORDS: Readonly<Record<string, string>> = {
  method: 'method',
  label: 'label',
  event: 'eventId',
  state: 'state',
  is: 'verification',
  verification: 'verification',
  since: 'since',
  until: 'until',
  q: 'q',
}

/** What is followed: by the service's own filters, and by a condition that is evaluated here. */
export interface Filter {
  readonly query: Query
  matches(request: RequestDetail): boolean
}

/**
 * Reads `--filter`: words as the list takes them (`method:POST label:order.paid "some text"`), or a condition as actions
 * have it (`{"path":"body.type","op":"startsWith","value":"order."}`). Several of them combine with AND.
 *
 * @throws ClientError naming what is wrong
 */
export async function readFilter(texts: readonly string[]): Promise<Filter> {
  const query: Record<string, string> = {}
  const conditions: ((request: RequestDetail) => boolean)[] = []
  for (const text of texts) {
    if (text.trimStart().startsWith('{')) conditions.push(await condition(text))
    else Object.assign(query, wordsOf(text))
  }
  return { query, matches: (request) => conditions.every((holds) => holds(request)) }
}

function wordsOf(text: string): Record<string, string> {
  const query: Record<string, string> = {}
  const free: string[] = []
  for (const [, name, quoted, bare] of text.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? bare ?? ''
    if (name === undefined) free.push(value)
    else if (name === 'since' || name === 'until') query[name] = requiredMoment(value, `--filter ${name}:`)
    else if (WORDS[name] !== undefined) query[WORDS[name]] = value
    else {
      throw usageError(
        `--filter does not know "${name}:".`,
        `It knows ${Object.keys(WORDS)
          .map((word) => `${word}:`)
          .join(', ')}, free text, and conditions as JSON.`,
      )
    }
  }
  if (free.length > 0) query.q = free.join(' ')
  return query
}

async function condition(text: string): Promise<(request: RequestDetail) => boolean> {
  const { readCondition } = await import('./condition.ts')
  return readCondition(text)
}
