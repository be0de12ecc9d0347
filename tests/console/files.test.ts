import { beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { TestBrowser } from '../support/browser.ts'
import { sendRaw } from '../support/sender.ts'
import { startService, type TestService } from '../support/service.ts'

const PAGE = '<!doctype html><title>Creel</title>'
const SCRIPT = 'console.log("the console")'.repeat(20)

/** A pack of three small files, in the format of `scripts/console/pack.ts`. */
function smallPack(): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  let offset = 0
  const put = (bytes: Uint8Array) => {
    parts.push(bytes)
    offset += bytes.length
    return [offset - bytes.length, bytes.length]
  }
  const fileOf = (path: string, type: string, text: string, isPacked = false) => {
    const plain = Buffer.from(text)
    const identity = put(plain)
    const br = isPacked ? identity : put(brotliCompressSync(plain))
    const gzip = isPacked ? identity : put(gzipSync(plain))
    const isHashed = path !== 'index.html'
    return { path, type, isHashed, isPacked, etag: `"${path}"`, bodies: { identity, br, gzip } }
  }
  const files = [
    fileOf('index.html', 'text/html; charset=utf-8', PAGE),
    fileOf('main-abc.js', 'text/javascript; charset=utf-8', SCRIPT),
    fileOf('font-abc.woff2', 'font/woff2', 'a font', true),
  ]
  const index = Buffer.from(JSON.stringify(files))
  const head = Buffer.alloc(4)
  head.writeUInt32BE(index.length)
  return Buffer.concat([head, index, ...parts])
}

let service: TestService

beforeAll(async () => {
  service = await startService({ consolePack: smallPack() })
})

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(service.baseUrl + path, { headers, redirect: 'manual' })

describe('the files of the console', () => {
  test.each(['/', '/console'])('%s leads to it', async (path) => {
    const response = await get(path)
    expect([response.status, response.headers.get('location')]).toEqual([303, '/console/'])
  })

  test.each(['/console/', '/console/sign-in', '/console/e/0f4a/deliveries', '/console/index.html'])(
    '%s is the page, to be asked for anew each time',
    async (path) => {
      const response = await get(path)
      expect(await response.text()).toBe(PAGE)
      expect(response.headers.get('cache-control')).toBe('no-cache')
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    },
  )

  test('hashed files are kept for ever, and what is not there is not the page', async () => {
    const response = await get('/console/main-abc.js')
    expect(await response.text()).toBe(SCRIPT)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const missing = await get('/console/main-old.js')
    expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, 'no-store'])
  })

  test.each([
    ['br', 'gzip, deflate, br', '/console/main-abc.js'],
    ['gzip', 'gzip', '/console/main-abc.js'],
    ['gzip', 'br;q=0, gzip', '/console/main-abc.js'],
    [undefined, 'identity', '/console/main-abc.js'],
    [undefined, 'br, gzip', '/console/font-abc.woff2'],
  ])('are sent as %s to who takes %s', async (encoding, accepted, path) => {
    const answer = await sendRaw(service.baseUrl + path, {
      method: 'GET',
      headers: [['Accept-Encoding', accepted]],
    })
    expect(answer.headers['content-encoding']).toBe(encoding)
    expect(answer.headers.vary).toBe('Accept-Encoding')
    const etag = String(answer.headers.etag)
    const again = await get(path, { 'If-None-Match': `"x", ${etag}`, 'Accept-Encoding': accepted })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  })

  test('nothing but our own files may run in the page, and no text becomes script', async () => {
    const { headers } = await get('/console/')
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "form-action 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      expect(policy.split('; ')).toContain(part)
    }
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })
})

test('a field with 100 KB of commas is not read to its end', async () => {
  const commas = ','.repeat(100_000)
  const plain = await get('/console/', { 'Accept-Encoding': `identity${commas}br` })
  expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null])
  expect((await get('/console/', { 'If-None-Match': `${commas}"index.html"` })).status).toBe(200)
})

test('where the console is off there is nothing of it, and no cookie counts', async () => {
  const off = await startService({ hasConsole: false, consolePack: smallPack() })
  const browser = new TestBrowser(off)
  for (const path of ['/', '/console', '/console/', '/console/main-abc.js']) {
    expect((await browser.call('GET', path)).status).toBe(404)
  }
  expect((await browser.signIn({ key: off.alice.key })).status).toBe(404)
  await off.stop()
})
