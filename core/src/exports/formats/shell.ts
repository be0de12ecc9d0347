import { contentTypeIn, headerText } from '../../engine/message/index.ts'
import { type ExportedRequest, endToEndHeaders, type Format } from './format.ts'

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Longer words are refused by the system (128 KB on Linux), in every shell. */
const WORD_BYTES_MAX = 100_000

/** How a command gets the body: as a word, or through a pipe if a word cannot hold it. */
function bodyWay({ body, isText }: ExportedRequest): 'none' | 'word' | 'pipe' {
  if (body.length === 0) return 'none'
  return isText && body.length <= WORD_BYTES_MAX ? 'word' : 'pipe'
}

/** The start of a pipe that writes the body. `printf` is built into the shell and takes words of any length. */
function piped(request: ExportedRequest): string {
  if (bodyWay(request) !== 'pipe') return ''
  const { body, isText } = request
  return isText
    ? `printf %s ${quoted(body.toString())} | `
    : `printf %s ${body.toString('base64')} | base64 -d | `
}

/** Fields that curl adds by itself unless a flag forbids it. */
const CURL_OWN = ['Accept', 'User-Agent', 'Content-Type']

function curl(request: ExportedRequest): string {
  const { body, method } = request
  const fields = endToEndHeaders(request)
  const options = [`curl --globoff --path-as-is ${quoted(request.url)}`]
  // With `--request HEAD`, curl would wait for a body in the answer.
  options.push(method === 'HEAD' ? '--head' : `--request ${quoted(method)}`)
  // In curl, a semicolon marks a field without a value.
  for (const [name, value] of fields) {
    options.push(`--header ${quoted(value === '' ? `${name};` : `${name}: ${headerText(value)}`)}`)
  }
  const sent = new Set(fields.map(([name]) => name.toLowerCase()))
  for (const name of CURL_OWN) {
    if (sent.has(name.toLowerCase()) || (name === 'Content-Type' && body.length === 0)) continue
    options.push(`--header ${quoted(`${name}:`)}`)
  }
  const way = bodyWay(request)
  // Not `--data`: a body that starts with @ would name a local file.
  if (way === 'word') options.push(`--data-raw ${quoted(body.toString())}`)
  if (way === 'pipe') options.push('--data-binary @-')
  return `${piped(request)}${options.join(' \\\n  ')}\n`
}

function httpie(request: ExportedRequest): string {
  const way = bodyWay(request)
  const options = [
    `http ${way === 'pipe' ? '' : '--ignore-stdin '}--path-as-is ${quoted(request.method)} ${quoted(request.url)}`,
  ]
  const fields = endToEndHeaders(request)
  for (const [name, value] of fields) options.push(quoted(httpieField(name, headerText(value))))
  if (request.body.length > 0 && contentTypeIn(fields) === undefined) {
    // Otherwise HTTPie declares every body as JSON.
    options.push('Content-Type:')
  }
  if (way === 'word') options.push(`--raw ${quoted(request.body.toString())}`)
  return `${piped(request)}${options.join(' \\\n  ')}\n`
}

/** A field in HTTPie's syntax, in which `:@` would name a local file and `:=` would be JSON. */
function httpieField(name: string, value: string): string {
  if (value === '') return `${name};`
  return `${name}:${/^[@=]/.test(value) ? '\\' : ''}${value}`
}

/** A command for a POSIX shell that sends the request with curl. */
export const CURL = {
  contentType: 'text/x-shellscript; charset=utf-8',
  extension: 'sh',
  about: 'a curl command',
  write: curl,
} as const satisfies Format

/** A command for a POSIX shell that sends the request with HTTPie. */
export const HTTPIE: Format = {
  contentType: 'text/x-shellscript; charset=utf-8',
  extension: 'sh',
  about: 'an HTTPie command',
  write: httpie,
}
