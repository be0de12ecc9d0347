import { isCallError, statusOf } from '../trpc.ts'

/** A refusal for display, in the API's words if it answered. */
export interface ProblemWords {
  readonly detail: string
  readonly code: string | null
  readonly status: number | undefined
  readonly traceId: string | null
  /** Every invalid part of the input, by JSON Pointer; in document order. */
  readonly items: readonly { readonly pointer: string; readonly detail: string }[]
}

export function problemOf(error: unknown): ProblemWords {
  const status = statusOf(error)
  const problem = isCallError(error) ? error.data?.problem : undefined
  if (problem !== undefined) {
    return {
      // The API's words are about keys, and the page signs in with a session.
      detail: status === 401 ? 'The session has ended. Sign in again.' : plain(problem.detail),
      code: problem.code,
      status,
      traceId: problem.traceId,
      items: (problem.errors ?? []).map(({ pointer, detail }) => ({
        pointer: pointer ?? '#',
        detail: plain(detail),
      })),
    }
  }
  const said = error instanceof Error ? error.message : String(error)
  const detail = status === undefined ? 'The service cannot be reached. Your input is kept.' : said
  return { detail, code: null, status, traceId: null, items: [] }
}

/** Text without the marks of code, which the page shows as text. */
const plain = (text: string): string => text.replaceAll('`', '')

const isAt = (pointer: string, member: string) =>
  pointer === `#/${member}` || pointer.startsWith(`#/${member}/`)

/** The API's messages about one member of the input and everything below it. */
export const itemsAt = (problem: ProblemWords | null, member: string): ProblemWords['items'] =>
  (problem?.items ?? []).filter(({ pointer }) => isAt(pointer, member))

/** The same as one text, empty if there are none. */
export const problemAt = (problem: ProblemWords | null, member: string): string =>
  itemsAt(problem, member)
    .map(({ detail }) => detail)
    .join(' ')

/** The API's messages about everything but these members, to be shown for the form as a whole. */
export function problemBeside(problem: ProblemWords | null, members: readonly string[]): string[] {
  if (problem === null) return []
  const elsewhere = problem.items.filter(({ pointer }) => !members.some((member) => isAt(pointer, member)))
  return problem.items.length === 0 ? [problem.detail] : elsewhere.map(({ detail }) => detail)
}
