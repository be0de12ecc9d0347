import { urlEncodedPairs } from '../../message/index.ts'

/** New value of a query parameter: null removes it, undefined leaves it unchanged. */
export type ChangeOfQuery = (name: string, value: string) => string | null | undefined

/** Changes the parameters of a query string. The others keep their bytes. Null when none is left. */
export function changedQuery(query: string, change: ChangeOfQuery): string | null {
  const pieces = query.split('&').flatMap((piece) => {
    const [pair] = urlEncodedPairs(piece)
    if (pair === undefined) return [piece]
    const value = change(...pair)
    if (value === undefined) return [piece]
    return value === null ? [] : [`${piece.split('=', 1)[0]}=${encodeURIComponent(value.toWellFormed())}`]
  })
  return pieces.length === 0 ? null : pieces.join('&')
}
