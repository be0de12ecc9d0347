import { describe, expect, test } from 'bun:test'
import { PROVIDERS } from '@creel/core/engine/providers'
import { z } from 'zod'
import { startService } from '../../support/service.ts'

const service = await startService()
const { newClient } = service

const Items = z.object({
  items: z.array(
    z.strictObject({
      slug: z.string(),
      name: z.string(),
      eventType: z.strictObject({ source: z.string(), name: z.string().nullable() }).nullable(),
      eventId: z
        .strictObject({ source: z.string(), name: z.string(), documentedAt: z.url().nullable() })
        .nullable(),
      sequence: z.boolean(),
      reconcilable: z.boolean(),
      signatureHeader: z.string().nullable(),
      handshake: z.enum(['none', 'automatic', 'token']),
      handshakeTokenNeeded: z.boolean(),
      verification: z
        .strictObject({ supported: z.boolean(), scheme: z.string(), secretLabel: z.string().nullable() })
        .nullable(),
      setupPath: z.string().nullable(),
    }),
  ),
})

describe('GET /api/v1/providers', () => {
  test('lists every provider, sorted by slug, with what is needed to set it up', async () => {
    const alice = await newClient()
    const { items } = await alice.expect(alice.get('/api/v1/providers'), Items)
    const slugs = items.map(({ slug }) => slug)
    expect(slugs).toEqual([...new Set(slugs)].sort())
    expect(slugs).toEqual(PROVIDERS.map(({ slug }) => slug))
    expect(items.find(({ slug }) => slug === 'github')).toEqual({
      slug: 'github',
      name: 'GitHub',
      eventType: { source: 'header', name: 'X-GitHub-Event' },
      eventId: {
        source: 'header',
        name: 'X-GitHub-Delivery',
        documentedAt: expect.stringContaining('https://docs.github.com/'),
      },
      sequence: false,
      reconcilable: true,
      signatureHeader: 'X-Hub-Signature-256',
      handshake: 'none',
      handshakeTokenNeeded: false,
      verification: { supported: true, scheme: 'hmac-sha256-hex', secretLabel: expect.any(String) },
      setupPath: expect.stringContaining('Webhooks'),
    })
    const slugsOf = (has: 'sequence' | 'reconcilable') =>
      items.flatMap((each) => (each[has] ? each.slug : []))
    expect(slugsOf('reconcilable')).toEqual(['github', 'stripe'])
    expect(slugsOf('sequence')).toEqual(['telegram'])
    expect(items.find(({ slug }) => slug === 'facebook')?.handshakeTokenNeeded).toBe(true)
    const handshakeOf = (wanted: string) => items.find(({ slug }) => slug === wanted)?.handshake
    expect(['facebook', 'slack', 'x', 'stripe'].map(handshakeOf)).toEqual([
      'token',
      'automatic',
      'automatic',
      'none',
    ])
    for (const each of items) expect(each.handshakeTokenNeeded).toBe(each.handshake === 'token')
    expect(items.find(({ slug }) => slug === 'paypal')?.verification?.supported).toBe(false)
    expect(items.find(({ slug }) => slug === 'mailchimp')?.verification).toBeNull()
  })

  test('may be cached for an hour, and answers 304 to its own ETag', async () => {
    const alice = await newClient()
    const first = await alice.get('/api/v1/providers')
    expect(first.headers.get('cache-control')).toBe('public, max-age=3600')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[^"]+"$/)
    const again = await alice.get('/api/v1/providers', { headers: { 'If-None-Match': etag } })
    expect(again).toMatchObject({ status: 304, text: '' })
    expect(again.headers.get('etag')).toBe(etag)
    const other = await alice.get('/api/v1/providers', { headers: { 'If-None-Match': '"another"' } })
    expect(other.status).toBe(200)
  })

  test('needs a key, like every route', async () => {
    const { bob } = service
    expect((await bob.get('/api/v1/providers')).status).toBe(401)
  })
})
