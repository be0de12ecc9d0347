import type { CapturedRequest } from './capturedRequest.ts'

/** A destination, and what of a captured request follows it. */
export interface Target {
  readonly url: string
  /** Whether the captured path suffix follows the URL's path. */
  readonly appendPath: boolean
  /** Whether the captured query follows the URL's query. */
  readonly appendQuery: boolean
}

/**
 * The URL of a forward: the action's URL, with the captured path suffix after its path and the captured query after its
 * query if the action asks for them. Both are appended as captured, dot segments and escapes included. One slash
 * separates URL and suffix. Only characters that a request line cannot hold are escaped.
 */
export function targetUrl(
  { url, appendPath, appendQuery }: Target,
  { path, queryString }: Pick<CapturedRequest, 'path' | 'queryString'>,
): string {
  const suffix = appendPath ? sendable(path) : ''
  const more = appendQuery ? sendable(queryString ?? '') : ''
  if (suffix === '' && more === '') return url
  const mark = url.indexOf('?')
  const base = mark < 0 ? url : url.slice(0, mark)
  const query = [mark < 0 ? '' : url.slice(mark + 1), more].filter((part) => part !== '').join('&')
  const target = suffix === '' ? base : `${base.replace(/\/$/, '')}${suffix}`
  return query === '' ? target : `${target}?${query}`
}

/** Escapes characters that would end the target or the request line: controls, blanks, `#`, backslashes, non-ASCII. */
function sendable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^!"$-[\]-~]/gu, (char) => (char === '#' ? '%23' : encodeURIComponent(char)))
}
