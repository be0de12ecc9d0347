import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { asCurl, asFetch, base64Of, type Copied } from './copyAs.ts'

/** Runs a shell command against a server, and returns the received request. */
async function sentBy(copied: Copied, run: (url: string) => Promise<unknown>) {
  const { promise, resolve } = Promise.withResolvers<{
    method: string
    body: Uint8Array
    marks: (string | null)[]
  }>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const marks = copied.rawHeaders.map(({ name }) => request.headers.get(name))
      resolve({ method: request.method, body: await request.bytes(), marks })
      return new Response('ok')
    },
  })
  try {
    await run(`http://127.0.0.1:${server.port}/a?b=%5B1%5D`)
    return await promise
  } finally {
    await server.stop(true)
  }
}

async function shell(command: string): Promise<void> {
  const child = Bun.spawn(['sh', '-c', `${command.replace('curl ', 'curl -sS ')}`], { stderr: 'pipe' })
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text())
}

describe('a copied command', () => {
  const awkward = `{"a":"it's \\"quoted\\" $HOME \`x\` \\\\ @file","ü":"🐟"}\n\r\n`
  const headers = [
    { name: 'Content-Type', value: 'application/json; charset=utf-8' },
    { name: 'X-Quote', value: "it's 100% $PATH" },
  ]

  test('curl sends the same bytes, also what a shell would read as its own', async () => {
    const copied = { method: 'PUT', url: '', rawHeaders: headers, body: awkward, bodyIsBinary: false }
    const sent = await sentBy(copied, (url) => shell(asCurl({ ...copied, url })))
    expect(sent.method).toBe('PUT')
    expect(new TextDecoder().decode(sent.body)).toBe(awkward)
    expect(sent.marks).toEqual(headers.map(({ value }) => value))
  })

  test('curl sends bytes that are no text, and NUL', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, at) => at)
    const copied = { method: 'POST', url: '', rawHeaders: [], body: all.toBase64(), bodyIsBinary: true }
    const sent = await sentBy(copied, (url) => shell(asCurl({ ...copied, url })))
    expect(sent.body).toEqual(all)
    const nul = { ...copied, body: 'a\0b', bodyIsBinary: false }
    const other = await sentBy(nul, (url) => shell(asCurl({ ...nul, url })))
    expect(new TextDecoder().decode(other.body)).toBe('a\0b')
  })

  test('a text that begins with @ is no file', async () => {
    const copied = { method: 'POST', url: '', rawHeaders: [], body: '@/etc/hostname', bodyIsBinary: false }
    const sent = await sentBy(copied, (url) => shell(asCurl({ ...copied, url })))
    expect(new TextDecoder().decode(sent.body)).toBe('@/etc/hostname')
  })

  test('fetch sends the same bytes', async () => {
    const copied = { method: 'POST', url: '', rawHeaders: headers, body: awkward, bodyIsBinary: false }
    const program = (url: string) => asFetch({ ...copied, url })
    const sent = await sentBy(copied, async (url) => {
      const child = Bun.spawn([process.execPath, '-e', program(url)], { stderr: 'inherit' })
      expect(await child.exited).toBe(0)
    })
    expect(new TextDecoder().decode(sent.body)).toBe(awkward)
    expect(sent.marks).toEqual(headers.map(({ value }) => value))
  })

  test('base64 of a text is that of its UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(base64Of(text)).toBe(Buffer.from(text).toString('base64'))
      }),
    )
  })
})
