import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { wrongParts } from '../../support/problems.ts'
import { temporaryFolder } from '../../support/process.ts'
import { type SentRequest, sendRaw } from '../../support/sender.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Each export format is run by its own program, and sends the captured request again. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

const TEXT = 'it\'s "quoted" $HOME `id` \\ \n ünï ✓ {"a":1}\r\n'
const SENT: Readonly<Record<string, SentRequest & { readonly suffix: string }>> = {
  'a text': {
    method: 'PUT',
    suffix: "/it's/a%20path?x=1&x=$2&y[]=*",
    headers: [
      ['Content-Type', 'text/plain'],
      ['X-Quote', 'it\'s "here" \\'],
      ['X-Empty', ''],
    ],
    body: TEXT,
  },
  bytes: {
    method: 'POST',
    suffix: '',
    headers: [['Content-Type', 'application/octet-stream']],
    body: new Uint8Array([0, 255, 39, 34, 92, 10, 13, 128]),
  },
  'a body that is called like a file, and a field as well': {
    method: 'POST',
    suffix: '',
    headers: [
      ['Content-Type', 'text/plain'],
      ['X-File', '@/etc/hostname'],
      ['X-Equal', '=1'],
    ],
    body: '@/etc/hostname',
  },
  'a text that no word of a command line can hold': {
    method: 'POST',
    suffix: '',
    headers: [['Content-Type', 'text/plain']],
    body: "it's long, ".repeat(20_000),
  },
  'a bare request': { method: 'DELETE', suffix: '?a=b', headers: [['Accept', '*/*']], body: '' },
}

const Detail = z.looseObject({
  id: z.int(),
  method: z.string(),
  url: z.string(),
  body: z.string().nullable(),
  rawHeaders: z.array(z.object({ name: z.string(), value: z.string() })),
})

async function newest(endpoint: TestEndpoint) {
  const [row] = await endpoint.requests('pageSize=1')
  return await endpoint.client.expect(endpoint.client.get(endpoint.at(`/requests/${row?.id}`)), Detail)
}

/** The sender's own part of a request: without fields of the connection and fields that a client adds. */
function meant({ method, url, body, rawHeaders }: z.output<typeof Detail>, names: readonly string[]) {
  const own = rawHeaders.filter(({ name }) => names.includes(name.toLowerCase()))
  const headers = Object.fromEntries(own.map(({ name, value }) => [name.toLowerCase(), value]))
  return { method, url, body, headers }
}

async function run(
  command: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${out}${error}`)
  return out
}

/** Stand-ins for programs that are not installed everywhere. They send what they are given. */
const STAND_INS: Readonly<Record<string, string>> = {
  // Same interface as k6: a body is text or bytes, headers are an object.
  'node_modules/k6/package.json':
    '{"type":"module","exports":{".":"./k6.js","./http":"./http.js","./encoding":"./encoding.js"}}',
  'node_modules/k6/k6.js': 'export const check = () => true\n',
  'node_modules/k6/encoding.js': "export default { b64decode: (text) => Buffer.from(text, 'base64') }\n",
  'node_modules/k6/http.js':
    'export default { request: (method, url, body, { headers }) => { globalThis.sent = fetch(url, { method, headers, body }) } }\n',
  'k6main.mjs': "const { default: once } = await import('./request.js')\nonce()\nawait globalThis.sent\n",
  'requests.py': `import http.client, types, urllib.parse
def request(method, url, headers, data):
    parts = urllib.parse.urlsplit(url)
    link = http.client.HTTPConnection(parts.netloc)
    target = url.split(parts.netloc, 1)[1]
    link.request(method, target, body=data, headers=headers)
    answer = link.getresponse()
    return types.SimpleNamespace(status_code=answer.status, text=answer.read().decode())
`,
  // HTTPie's arguments: METHOD URL, then Name:value or Name; and the body in --raw or on stdin.
  'bin/http': `#!/usr/bin/env bash
raw=; args=()
while (( $# )); do case $1 in --ignore-stdin) stdin=no;; --path-as-is) ;; --raw) shift; raw=$1;; *) args+=("$1");; esac; shift; done
set -- "\${args[@]}"; method=$1 url=$2; shift 2; fields=()
for field; do case $field in *\\;|*:) fields+=(-H "$field");; *:[@=]*) exit 1;; *) field=\${field/:\\\\/:}; fields+=(-H "\${field%%:*}: \${field#*:}");; esac; done
if [[ $stdin == no ]]; then exec curl -gs --path-as-is -X "$method" "\${fields[@]}" \${raw:+--data-raw "$raw"} "$url"
else exec curl -gs --path-as-is -X "$method" "\${fields[@]}" --data-binary @- "$url"; fi
`,
}

/** The command of each program; the service gives the name of the file. */
const RUNS: Readonly<Record<string, (file: string) => readonly string[]>> = {
  curl: (file) => ['bash', file],
  httpie: (file) => ['bash', file],
  fetch: (file) => [Bun.which('node') ?? process.execPath, file],
  python: (file) => ['python3', file],
  k6: () => [process.execPath, 'k6main.mjs'],
  vitest: (file) => [process.execPath, 'test', `./${file}`],
}

describe.each(Object.entries(SENT))('%s', (_what, { suffix, ...sent }) => {
  const names = (sent.headers ?? []).map(([name]) => name.toLowerCase())

  test.each(Object.entries(RUNS))('written for %s, is sent again as it came', async (format, commandOf) => {
    if (Bun.which(commandOf('')[0] ?? '') === null) return
    const endpoint = await service.alice.endpoint()
    await sendRaw(endpoint.url + suffix, sent)
    const original = await newest(endpoint)
    const answer = await service.alice.get(endpoint.at(`/requests/${original.id}/export?format=${format}`))
    expect(answer.status).toBe(200)
    const folder = await temporaryFolder()
    for (const [name, text] of Object.entries(STAND_INS)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text, { mode: 0o755 })
    }
    const file = format === 'k6' ? 'request.js' : `request.${format === 'vitest' ? 'test.mjs' : format}`
    const script = format === 'fetch' ? 'request.mjs' : file
    await writeFile(join(folder, script), answer.text)
    await run(commandOf(script), folder, {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      WEBHOOK_URL: endpoint.url + suffix,
    })
    const again = await newest(endpoint)
    expect(again.id).toBeGreaterThan(original.id)
    expect(meant(again, names)).toEqual(meant(original, names))
  })

  test('written as a raw message, is sent again over a socket', async () => {
    const endpoint = await service.alice.endpoint()
    await sendRaw(endpoint.url + suffix, sent)
    const original = await newest(endpoint)
    const message = await fetch(
      `${service.baseUrl}${endpoint.at(`/requests/${original.id}/export?format=http`)}`,
      { headers: { Authorization: `Bearer ${service.alice.key}` } },
    )
    expect(message.headers.get('content-disposition')).toBe(
      `attachment; filename="request-${original.id}.http"`,
    )
    const bytes = new Uint8Array(await message.arrayBuffer())
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const { hostname, port } = new URL(service.captureUrl)
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data: () => resolve() } })
    socket.write(bytes)
    await answered
    socket.end()
    const again = await newest(endpoint)
    expect(again.id).toBeGreaterThan(original.id)
    expect({ ...again, id: 0, receivedAt: '' }).toEqual({ ...original, id: 0, receivedAt: '' })
  })
})

describe('the route', () => {
  test('masks credentials unless they were asked for', async () => {
    const endpoint = await service.alice.endpoint()
    const headers = {
      Authorization: 'Bearer opens-doors',
      Cookie: 'sid=opens-doors',
      'verif-hash': 'opens-doors',
      'X-Hub-Signature': 'shown',
    }
    const { id } = await endpoint.capture({ headers })
    for (const format of ['curl', 'har', 'http', 'python']) {
      const path = endpoint.at(`/requests/${id}/export?format=${format}`)
      const masked = (await service.alice.get(path)).text
      expect(masked).not.toContain('opens-doors')
      expect(masked).toContain('***')
      expect(masked).toContain('shown')
      expect((await service.alice.get(`${path}&includeSecrets=true`)).text).toContain('opens-doors')
    }
  })

  test('refuses another format, and names those that there are', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture()
    for (const query of ['?format=xml', '']) {
      const answer = await service.alice.get(endpoint.at(`/requests/${id}/export${query}`))
      expect(wrongParts(answer)).toEqual([`?format ${query === '' ? 'required' : 'unknown_value'}`])
    }
    const answer = await service.alice.get(endpoint.at(`/requests/${id}/export?format=xml`))
    for (const format of ['curl', 'fetch', 'httpie', 'python', 'har', 'http', 'k6', 'vitest']) {
      expect(answer.text).toContain(format)
    }
  })
})
