import { beforeAll, describe, expect, test } from 'bun:test'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let baseUrl: string

beforeAll(async () => {
  service = await startService()
  baseUrl = service.baseUrl
})

describe('/docs', () => {
  test('serves the page and all of its parts from our own origin', async () => {
    const page = await fetch(`${baseUrl}/docs`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none'; script-src 'self'")
    const html = await page.text()
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(parts).toContain('/docs/swagger-ui-bundle.js')
    for (const part of parts) {
      expect(part).toStartWith('/')
      const answer = await fetch(baseUrl + part)
      expect([part, answer.status]).toEqual([part, 200])
      expect((await answer.bytes()).length).toBeGreaterThan(100)
    }
  })

  test('starts on the description, and asks nobody else about it', async () => {
    const start = await (await fetch(`${baseUrl}/docs/start.js`)).text()
    expect(start).toContain("url: '/openapi/v1.json'")
    expect(start).toContain('validatorUrl: null')
  })
})

describe('/openapi/v1.json', () => {
  test('is open to everybody and names this service as its server', async () => {
    const answer = await fetch(`${baseUrl}/openapi/v1.json`)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: baseUrl }] })
  })
})

// Anyone may ask for them, as often as they like: copying a megabyte costs several times what sending it does.
test.each(['/openapi/v1.json', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'])(
  'every answer with %s sends the same bytes from the same memory',
  async (path) => {
    const begun = async () => {
      const answer = await service.running.handle(new Request(`http://localhost${path}`))
      const reader = answer.body?.getReader()
      const { value } = (await reader?.read()) ?? {}
      await reader?.cancel()
      return value
    }
    const [one, other] = [await begun(), await begun()]
    expect(one?.length).toBe(64 * 1024)
    expect(one?.buffer).toBe(other?.buffer)
  },
)
