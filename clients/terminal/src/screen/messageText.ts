import type { WholeRequest } from 'creel-client'
import { ClientError } from '../clientError.ts'

/** A request as editable text: its first line, its headers, an empty line, its body. */
export function messageText({ method, path, queryString, rawHeaders, body }: WholeRequest): string {
  const target = `${path === '' ? '/' : path}${queryString === null ? '' : `?${queryString}`}`
  return [
    `${method} ${target}`,
    ...rawHeaders.map(({ name, value }) => `${name}: ${value}`),
    '',
    body ?? '',
  ].join('\n')
}

/**
 * Parses a text of {@link messageText} after the user has edited it.
 *
 * @throws ClientError naming the invalid line
 */
export function readMessage(text: string, original: WholeRequest): WholeRequest {
  const end = text.search(/\r?\n\r?\n/)
  const head = end === -1 ? text.trimEnd() : text.slice(0, end)
  const body = end === -1 ? '' : text.slice(end).replace(/^\r?\n\r?\n/, '')
  const [first = '', ...fields] = head.split(/\r?\n/)
  const [, method, target] = /^(\S+) (\/\S*)$/.exec(first) ?? []
  if (method === undefined || target === undefined) {
    throw new ClientError(`The first line must be like "POST /path?query": ${first}`)
  }
  const rawHeaders = fields.map((field) => {
    const [, name, value] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*)$/.exec(field) ?? []
    if (name === undefined || value === undefined) throw new ClientError(`This is not a header: ${field}`)
    return { name, value }
  })
  const [path = '', ...query] = target.split('?')
  return {
    ...original,
    method,
    path,
    queryString: query.length === 0 ? null : query.join('?'),
    rawHeaders,
    body: body === '' ? null : body,
  }
}
