import { type ExportedRequest, endToEndHeaders, type Format, joinedHeaders } from './format.ts'

/** A JavaScript literal; header values stay byte strings, which is what `fetch` takes. */
const literal = (text: string) =>
  JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

/** An import statement of the generated program. Split up, so that it does not look like one of ours. */
const imported = (names: string, from: string) => `import ${names} from '${from}'`

/** Methods without a body in `fetch`. */
const BODILESS = new Set(['GET', 'HEAD'])

/** The second argument of `fetch`, indented. */
function fetchInit(request: ExportedRequest, indent: string): string {
  const lines = [`method: ${literal(request.method)},`]
  const fields = endToEndHeaders(request)
  if (fields.length > 0) {
    lines.push('headers: [')
    for (const [name, value] of fields) lines.push(`  [${literal(name)}, ${literal(value)}],`)
    lines.push('],')
  }
  if (request.body.length > 0 && BODILESS.has(request.method)) {
    lines.push(
      `// fetch sends no body with ${request.method}; the captured one had ${request.body.length} bytes.`,
    )
  } else if (request.body.length > 0) lines.push(`body: ${bodyLiteral(request)},`)
  return `{\n${lines.map((line) => `${indent}  ${line}\n`).join('')}${indent}}`
}

function bodyLiteral({ body, isText }: ExportedRequest): string {
  if (isText) return literal(body.toString())
  return `Uint8Array.from(atob(${literal(body.toString('base64'))}), (character) => character.charCodeAt(0))`
}

function fetchCall(request: ExportedRequest): string {
  return `const response = await fetch(${literal(request.url)}, ${fetchInit(request, '')})
console.log(response.status, await response.text())
`
}

function vitest(request: ExportedRequest): string {
  const what = request.label ?? `${request.method} of ${request.receivedAt.toISOString()}`
  return `${imported('{ env }', 'node:process')}
${imported('{ expect, test }', 'vitest')}

/** URL of the handler under test. */
const handler = env.WEBHOOK_URL ?? 'http://127.0.0.1:3000/webhooks'

test(${literal(`the handler takes ${what}`)}, async () => {
  const response = await fetch(handler, ${fetchInit(request, '  ')})
  expect(response.status).toBeGreaterThanOrEqual(200)
  expect(response.status).toBeLessThan(300)
})
`
}

function k6(request: ExportedRequest): string {
  const fields = joinedHeaders(request).map(([name, value]) => `    ${literal(name)}: ${literal(value)},\n`)
  const body =
    request.body.length === 0
      ? 'null'
      : request.isText
        ? literal(request.body.toString())
        : `encoding.b64decode(${literal(request.body.toString('base64'))})`
  return `${imported('{ check }', 'k6')}
${imported('encoding', 'k6/encoding')}
${imported('http', 'k6/http')}

export const options = { vus: 1, iterations: 10 }

const body = ${body}
const parameters = {
  headers: {
${fields.join('')}  },
}

export default function () {
  const response = http.request(${literal(request.method)}, ${literal(request.url)}, body, parameters)
  check(response, { 'answers 2xx': ({ status }) => status >= 200 && status < 300 })
}
`
}

const TYPE = 'text/javascript; charset=utf-8'

/** An ES module that sends the request with `fetch`. */
export const FETCH: Format = {
  contentType: TYPE,
  extension: 'mjs',
  about: 'a call of fetch, for Node, Bun, Deno and browsers',
  write: fetchCall,
}

/** A k6 script that sends the request once with one virtual user, until its options are edited. */
export const K6: Format = { contentType: TYPE, extension: 'js', about: 'a k6 load script', write: k6 }

/** A Vitest file that sends the request to the user's own handler. */
export const VITEST: Format = {
  contentType: TYPE,
  extension: 'test.mjs',
  about: 'a Vitest test that sends it to a handler',
  write: vitest,
}
