import { beforeAll, describe, expect, test } from 'bun:test'
import { startService } from '../support/service.ts'

let baseUrl: string

beforeAll(async () => {
  baseUrl = (await startService()).baseUrl
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
