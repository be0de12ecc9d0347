import { beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { type ConsolePage, openConsole, startConsoleService } from '../../support/console.ts'
import { startService, type TestService } from '../../support/service.ts'
import { emptyHome, environmentOf, fails, succeeds } from '../../terminal/support.ts'

/** Links that show one request to readers without a key. */

let service: TestService
let endpoint: TestEndpoint

const Link = z.looseObject({ id: z.string(), url: z.string(), expiresAt: z.string(), requestId: z.int() })
const Listed = z.looseObject({ items: z.array(z.looseObject({ id: z.string(), requestId: z.int() })) })

beforeAll(async () => {
  service = await startService({ parts: ['gateway'], limits: { apiRatePerMinute: 100_000 } })
  endpoint = await service.alice.endpoint({ name: 'shared <b>' })
})

const share = async (id: number, members: object = {}) =>
  await service.alice.expect(service.alice.post(endpoint.at(`/requests/${id}/share-links`), members), Link)

async function open(url: string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('the page of a link', () => {
  test('shows the request, masked as for agents, to crawlers not at all, and runs nothing', async () => {
    const { id } = await endpoint.capture({
      suffix: '/orders?token=s3cret&page=2',
      headers: { Authorization: 'Bearer s3cret', 'X-Hint': '<script>alert(1)</script>' },
      body: '{"type":"order.paid","amount":12345678901234567890,"password":"s3cret","value":[{"clientState":"s3cret"}],"note":"<i>"}',
    })
    const { url } = await share(id)
    expect(url).toMatch(new RegExp(`^${service.baseUrl}/share/[\\w-]{43}$`))
    const { headers, status, text } = await open(url)
    expect(status).toBe(200)
    for (const shown of [
      'order.paid',
      '/orders',
      'page=2',
      '12345678901234567890',
      '&lt;script&gt;',
      'shared &lt;b&gt;',
    ])
      expect(text).toContain(shown)
    for (const hidden of ['s3cret', '<script', '<i>', endpoint.id]) expect(text).not.toContain(hidden)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
  })

  test('tells a body that is not stored from an empty one', async () => {
    const line = {
      receivedAt: new Date().toISOString(),
      method: 'POST',
      path: '',
      queryString: '',
      headers: [],
    }
    await endpoint.importLines(
      [
        { ...line, body: '' },
        { ...line, body: '', sizeBytes: 31, bodyTruncated: true },
      ]
        .map((one) => JSON.stringify(one))
        .join('\n'),
    )
    const [cut, empty] = await endpoint.requests('limit=2')
    const pages = [cut, empty].map(async (row) => (await open((await share(row?.id ?? 0)).url)).text)
    expect(await Promise.all(pages)).toEqual([
      expect.stringContaining('The body is not stored.'),
      expect.stringContaining('The body is empty.'),
    ])
  })

  test('shows a compressed body decoded, and says what it does not show', async () => {
    const gzip = await endpoint.capture({
      headers: { 'Content-Encoding': 'gzip' },
      body: Bun.gzipSync('{"type":"zipped","secret":"s3cret"}'),
    })
    const zipped = await open((await share(gzip.id)).url)
    expect(zipped.text).toContain('zipped')
    expect(zipped.text).not.toContain('s3cret')
    const binary = await endpoint.capture({ body: Uint8Array.from([0, 255, 254]) })
    expect((await open((await share(binary.id)).url)).text).toContain('The body is binary.')
    const long = await endpoint.capture({ body: JSON.stringify({ text: 'x'.repeat(300_000) }) })
    expect((await open((await share(long.id)).url)).text).toContain('too long for this page')
    const digests = Array.from({ length: 9_000 }, (_, at) => new Bun.SHA1().update(String(at)).digest('hex'))
    const packed = await endpoint.capture({
      headers: { 'Content-Encoding': 'gzip' },
      body: Bun.gzipSync(digests.join('\n')),
    })
    expect(packed.sizeBytes).toBeLessThan(262_144)
    expect((await open((await share(packed.id)).url)).text).toContain('too long for this page')
  })

  test('shows a body that nests deeply as it came', async () => {
    const body = '['.repeat(1_000) + ']'.repeat(1_000)
    const { text } = await open((await share((await endpoint.capture({ body })).id)).url)
    expect(text).toContain(body)
    expect(text.length).toBeLessThan(20_000)
  })

  test('ends with its time, its revocation, and the request', async () => {
    const [first, second] = await endpoint.captureMany(2)
    const short = await share(first?.id ?? 0, { expiresInSeconds: 60 })
    const revoked = await share(first?.id ?? 0)
    const deleted = await share(second?.id ?? 0)
    expect((await service.alice.delete(`/api/v1/share-links/${revoked.id}`)).status).toBe(204)
    expect((await open(revoked.url)).status).toBe(404)
    expect((await service.alice.delete(`/api/v1/share-links/${revoked.id}`)).status).toBe(404)
    await service.alice.delete(endpoint.at(`/requests/${second?.id}`))
    const gone = await open(deleted.url)
    expect([gone.status, gone.headers.get('x-robots-tag')]).toEqual([404, 'noindex, nofollow, noarchive'])
    expect(gone.text).not.toContain('Request #')
    expect((await open(short.url)).status).toBe(200)
    await service.clock.advance(61_000)
    expect((await open(short.url)).status).toBe(404)
    const { items } = await service.alice.expect(service.alice.get('/api/v1/share-links'), Listed)
    expect(items.map(({ id }) => id)).not.toContain(short.id)
  })

  test('is not said to be gone to a reader that has half-closed', async () => {
    const { url } = await share((await endpoint.capture()).id)
    const { hostname, pathname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const received = textOf(socket)
    const head = `GET ${pathname} HTTP/1.1\r\nHost: h\r\n`
    // The end has arrived when the second one is read.
    socket.end(`${head}\r\n${head}Connection: close\r\n\r\n`)
    const statuses = (await received).match(/(?<=HTTP\/1\.1 )\d+/g)
    expect(statuses).toHaveLength(2)
    expect(statuses).not.toContain('404')
    expect((await open(url)).status).toBe(200)
  })

  test('can be revoked while its request is in the recycle bin, and stays so after a restore', async () => {
    const { id } = await endpoint.capture()
    const link = await share(id)
    await service.alice.delete(endpoint.at(`/requests/${id}`))
    expect((await open(link.url)).status).toBe(404)
    const listed = async () =>
      (await service.alice.expect(service.alice.get(`/api/v1/share-links?requestId=${id}`), Listed)).items
    expect(await listed()).toMatchObject([{ id: link.id }])
    expect((await service.charlie.delete(`/api/v1/share-links/${link.id}`)).status).toBe(404)
    expect((await service.alice.delete(`/api/v1/share-links/${link.id}`)).status).toBe(204)
    expect(await listed()).toEqual([])
    const restored = await service.alice.post('/api/v1/recycle-bin/restore', { requestIds: [id] })
    expect(restored.status).toBe(200)
    expect((await service.alice.get(endpoint.at(`/requests/${id}`))).status).toBe(200)
    expect((await open(link.url)).status).toBe(404)
  })

  test('is told apart by its whole token, of which only a digest is stored', async () => {
    const { id } = await endpoint.capture()
    const { url } = await share(id)
    const token = url.split('/').at(-1) ?? ''
    for (const wrong of [token.slice(0, -1), `${token}x`, token.toLowerCase(), '', '../console', '%00'])
      expect((await open(`${service.baseUrl}/share/${wrong}`)).status).toBe(404)
    const rows = JSON.stringify(await service.db.selectFrom('shareLinks').selectAll().execute())
    const entries = JSON.stringify(await service.db.selectFrom('auditEntries').selectAll().execute())
    for (const stored of [rows, entries]) expect(stored).not.toContain(token)
    expect(entries).toContain('shareLinks.create')
    expect((await open(url, { method: 'POST' })).status).toBe(405)
  })
})

describe('links', () => {
  test('are listed and revoked by callers that see the endpoint, and made by those that may write', async () => {
    const other = await service.alice.endpoint({ name: 'other' })
    const { id } = await endpoint.capture()
    const link = await share(id)
    const keyOf = async (members: object) => {
      const Key = z.looseObject({ key: z.string() })
      const made = await service.alice.expect(service.alice.post('/api/v1/keys', members), Key)
      return { headers: { Authorization: `Bearer ${made.key}` } }
    }
    const elsewhere = await keyOf({ name: 'other', scope: 'write', endpointId: other.id })
    expect((await service.alice.get('/api/v1/share-links', elsewhere)).body).toMatchObject({ items: [] })
    expect((await service.alice.delete(`/api/v1/share-links/${link.id}`, elsewhere)).status).toBe(404)
    const reader = await keyOf({ name: 'reader', scope: 'read' })
    expect((await service.alice.post(endpoint.at(`/requests/${id}/share-links`), {}, reader)).status).toBe(
      403,
    )
    const { items } = await service.alice.expect(
      service.alice.get(`/api/v1/share-links?requestId=${id}`, reader),
      Listed,
    )
    expect(items).toEqual([expect.objectContaining({ id: link.id, requestId: id })])
    expect(items[0]).not.toHaveProperty('url')
    const { charlie } = service
    expect((await charlie.delete(`/api/v1/share-links/${link.id}`)).status).toBe(404)
    expect((await charlie.post(endpoint.at(`/requests/${id}/share-links`), {})).status).toBe(404)
  })

  test('of a wrong duration are refused with a pointer', async () => {
    const { id } = await endpoint.capture()
    for (const expiresInSeconds of [59, 2_592_001, 1.5, '1d']) {
      const { body, status } = await service.alice.post(endpoint.at(`/requests/${id}/share-links`), {
        expiresInSeconds,
      })
      expect([status, body]).toEqual([
        400,
        expect.objectContaining({ errors: [expect.objectContaining({ pointer: '#/expiresInSeconds' })] }),
      ])
    }
  })

  test('of a workspace are a hundred at most; others are not affected, and expired ones make room', async () => {
    const client = await service.newClient()
    const busy = await client.endpoint()
    const { id } = await busy.capture()
    const path = busy.at(`/requests/${id}/share-links`)
    const make = async () => (await client.post(path, { expiresInSeconds: 60 })).status
    // Together, so that calls at the same moment count, too.
    const made = await Promise.all(Array.from({ length: 110 }, make))
    expect(made.filter((status) => status === 201)).toHaveLength(100)
    expect(made.filter((status) => status === 409)).toHaveLength(10)
    await share((await endpoint.capture()).id)
    await service.clock.advance(61_000)
    expect(await make()).toBe(201)
  })

  test('count exactly as long as they are listed: not with a deleted endpoint', async () => {
    const client = await service.newClient()
    const listed = async () =>
      z.object({ totalCount: z.int() }).parse((await client.get('/api/v1/share-links')).body).totalCount
    const gone = await client.endpoint()
    const { id } = await gone.capture()
    const make = () => client.post(gone.at(`/requests/${id}/share-links`), {})
    await Promise.all(Array.from({ length: 100 }, make))
    expect(await listed()).toBe(100)
    await client.delete(gone.at(''))
    expect(await listed()).toBe(0)
    const kept = await client.endpoint()
    const { id: next } = await kept.capture()
    expect((await client.post(kept.at(`/requests/${next}/share-links`), {})).status).toBe(201)
    expect(await listed()).toBe(1)
  })

  test('are made, listed and revoked by the terminal', async () => {
    const env = environmentOf(service.alice, await emptyHome())
    const { id } = await endpoint.capture({ body: '{"type":"of.terminal"}' })
    const url = (await succeeds(['share', String(id), '--for', '1h'], env)).trim()
    expect((await open(url)).text).toContain('of.terminal')
    const [line = ''] = (await succeeds(['share', 'list', '--json'], env)).split('\n')
    const link = JSON.parse(line)
    expect(link).toMatchObject({ requestId: id })
    expect(await succeeds(['share', 'list'], env)).toContain(link.id)
    expect(await succeeds(['share', 'revoke', link.id], env)).toContain('Revoked')
    expect((await open(url)).status).toBe(404)
    expect((await fails(['share', 'revoke', link.id], env)).stderr).toContain('share link')
  })
})

test('an address that opens links without end is refused for a while, and its calls with a key are not', async () => {
  const own = await startService({ parts: ['gateway'], limits: { apiRatePerMinute: 100_000 } })
  const shared = await own.alice.endpoint()
  const { id } = await shared.capture()
  const { url } = await own.alice.expect(own.alice.post(shared.at(`/requests/${id}/share-links`), {}), Link)
  const seen = new Map<number, number>()
  const openSome = async (count: number) => {
    for (const { status } of await Promise.all(Array.from({ length: count }, () => open(url))))
      seen.set(status, (seen.get(status) ?? 0) + 1)
  }
  // Most together, because the budget is for a minute; the last ones each alone, because links that open are counted.
  for (let at = 0; at < 20; at += 1) await openSome(29)
  for (let at = 0; at < 40; at += 1) await openSome(1)
  expect(seen.get(200)).toBe(600)
  expect(seen.get(429)).toBe(20)
  expect((await own.alice.get('/api/v1/me')).status).toBe(200)
})

test('the page makes a link, shows it once, and revokes it', async () => {
  const own = await startConsoleService({ parts: ['gateway'] })
  const shared = await own.alice.endpoint({ name: 'page' })
  const { id } = await shared.capture({ body: '{"type":"of.page"}' })
  const opened: ConsolePage = await openConsole(own.alice)
  const { page, faults, goTo } = opened
  await goTo(`/e/${shared.id}?r=${id}`)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Share…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Ends after').selectOption('1 hour')
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  const url = (await dialog.locator('code').first().textContent()) ?? ''
  const before = await open(url)
  expect([before.status, before.text.includes('of.page')]).toEqual([200, true])
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' })
  expect((await open(url)).status).toBe(404)
  expect(faults).toEqual([])
})
