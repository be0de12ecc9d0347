import type { RequestFilters, WholeRequest } from 'creel-client'
import { usageError } from '../clientError.ts'
import type { TerminalTools } from '../tools.ts'
import { requiredMoment } from '../words.ts'

/** The option that names filters. */
export const FILTER_OPTION = [
  '--filter <words...>',
  'only matching captures: method:POST label:order.paid text, or a condition as JSON',
] as const

/** The filter words of the list's search, by the API's name of each filter. */
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

/** A filter of captures: the service's own filters, and a condition that is evaluated in this process. */
export interface Filter {
  readonly query: RequestFilters
  matches(request: WholeRequest): boolean
}

/**
 * Parses `--filter`: the words of the list's search (`method:POST label:order.paid "some text"`), or a condition like
 * those of actions (`{"path":"body.type","op":"startsWith","value":"order."}`). Several filters combine with AND.
 *
 * @throws ClientError naming the error
 */
export async function readFilter(
  texts: readonly string[],
  { readCondition }: Pick<TerminalTools, 'readCondition'>,
): Promise<Filter> {
  const query: Record<string, string> = {}
  const now = Date.now()
  const conditions: ((request: WholeRequest) => boolean)[] = []
  for (const text of texts) {
    if (text.trimStart().startsWith('{')) conditions.push(await readCondition(text))
    else for (const [name, value] of wordsOf(text, now)) add(query, name, value)
  }
  return { query, matches: (request) => conditions.every((holds) => holds(request)) }
}

/**
 * Adds a filter of the service, which matches one value of each.
 *
 * @throws ClientError for a second value
 */
function add(query: Record<string, string>, name: string, value: string): void {
  const { [name]: before = value } = query
  query[name] = value
  if (before === value) return
  throw usageError(
    `--filter takes one ${name === 'q' ? 'text' : name}, and "${before}" and "${value}" are two.`,
    "Give one of them, a text of several words as 'order paid', or a condition as JSON.",
  )
}

/** The service's filters that a text names, in its order, and its free text. */
function wordsOf(text: string, now: number): (readonly [name: string, value: string])[] {
  const words: (readonly [name: string, value: string])[] = []
  const free: string[] = []
  for (const [, name, quoted, bare] of text.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? bare ?? ''
    const filter = name === undefined || !Object.hasOwn(WORDS, name) ? undefined : WORDS[name]
    if (name === undefined) free.push(value)
    else if (name === 'since' || name === 'until')
      words.push([name, requiredMoment(value, `--filter ${name}:`, now)])
    else if (filter !== undefined) words.push([filter, value])
    else {
      throw usageError(
        `--filter has no word "${name}:".`,
        `Use ${Object.keys(WORDS)
          .map((word) => `${word}:`)
          .join(', ')}, free text, or a condition as JSON.`,
      )
    }
  }
  if (free.length > 0) words.push(['q', free.join(' ')])
  return words
}
