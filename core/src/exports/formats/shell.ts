import { headerText } from '../../engine/message/index.ts'
import { type ExportedRequest, endToEndHeaders } from '../exportedRequest.ts'
import type { Format } from './format.ts'

/** One word of a POSIX shell, whatever is in the text. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Fields that curl adds by itself unless a flag forbids it. */
const CURL_OWN = ['Accept', 'User-Agent', 'Content-Type']

function curl(request: ExportedRequest): string {
  const { body, method } = request
  const fields = endToEndHeaders(request)
  const options = [`curl --globoff --path-as-is ${quoted(request.url)}`]
  // curl waits for the body of an answer to HEAD unless it knows what it sends.
  options.push(method === 'HEAD' ? '--head' : `--request ${quoted(method)}`)
  // A field without a value is written with a semicolon.
  for (const [name, value] of fields) {
    options.push(`--header ${quoted(value === '' ? `${name};` : `${name}: ${headerText(value)}`)}`)
  }
  const sent = new Set(fields.map(([name]) => name.toLowerCase()))
  for (const name of CURL_OWN) {
    if (sent.has(name.toLowerCase()) || (name === 'Content-Type' && body.length === 0)) continue
    options.push(`--header ${quoted(`${name}:`)}`)
  }
  if (body.length > 0) {
    options.push(request.isText ? `--data-raw ${quoted(body.toString())}` : '--data-binary @-')
  }
  return `${fromBase64(request)}${options.join(' \\\n  ')}\n`
}

function httpie(request: ExportedRequest): string {
  const options = [
    `http ${request.isText ? '--ignore-stdin ' : ''}${quoted(request.method)} ${quoted(request.url)}`,
  ]
  for (const [name, value] of endToEndHeaders(request)) {
    options.push(quoted(value === '' ? `${name};` : `${name}:${headerText(value)}`))
  }
  if (request.body.length > 0 && request.isText) options.push(`--raw ${quoted(request.body.toString())}`)
  return `${fromBase64(request)}${options.join(' \\\n  ')}\n`
}

/** A body that no shell word can hold goes through a pipe. */
function fromBase64({ body, isText }: ExportedRequest): string {
  return isText || body.length === 0 ? '' : `printf %s ${body.toString('base64')} | base64 -d | `
}

/** A command for a POSIX shell that sends the request with curl. */
export const CURL: Format = {
  contentType: 'text/x-shellscript; charset=utf-8',
  extension: 'sh',
  about: 'a curl command',
  write: curl,
}

/** A command for a POSIX shell that sends the request with HTTPie. */
export const HTTPIE: Format = {
  contentType: 'text/x-shellscript; charset=utf-8',
  extension: 'sh',
  about: 'an HTTPie command',
  write: httpie,
}
