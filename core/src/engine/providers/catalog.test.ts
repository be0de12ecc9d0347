import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { isCredentialName } from '../credentials.ts'
import { compileMessage } from '../verification/message.ts'
import { nodesAt } from './bodyPath.ts'
import { findProvider, PROVIDERS } from './catalog.ts'
import { ProviderRow, type SchemeRow } from './catalogSchema.ts'

describe('the catalog', () => {
  test('has rows that the schema knows, without a member that it does not', () => {
    expect(z.array(ProviderRow).safeParse(PROVIDERS).error).toBeUndefined()
  })

  test('is sorted by slug, and slugs are unique', () => {
    const slugs = PROVIDERS.map(({ slug }) => slug)
    expect(slugs).toEqual([...new Set(slugs)].sort())
    for (const slug of slugs) expect(findProvider(slug)?.slug).toBe(slug)
  })

  // Endpoints store slugs, so they may be added but never renamed or removed.
  test('keeps the slugs that endpoints may have stored', () => {
    expect(PROVIDERS.map(({ slug }) => slug).join(' ')).toMatchSnapshot()
  })

  test('places shared secrets only where they are masked', () => {
    const places = PROVIDERS.flatMap(({ schemes }) =>
      schemes.filter(({ mac }) => mac === 'token' || mac === 'basic').map(({ signature }) => signature),
    )
    expect(places.length).toBeGreaterThan(10)
    for (const { in: place, name, path } of places) {
      expect(['header', 'body']).toContain(place)
      expect(isCredentialName(name ?? path?.split(/[.[\]]+/).at(-1) ?? '')).toBe(true)
    }
    expect(['verif-hash', 'passcode', 'clientState', 'X-Hub-Signature-256'].map(isCredentialName)).toEqual([
      ...[true, true, true, false],
    ])
  })

  test.each(PROVIDERS.map((provider) => [provider.slug, provider] as const))(
    '%s hangs together',
    (_, provider) => {
      expect(provider.verification === null).toBe(provider.schemes.length === 0)
      if (provider.verification !== null) {
        expect(provider.verification.supported).toBe(provider.schemes.every(({ mac }) => mac !== 'fetched'))
        expect(provider.schemes.map(({ scheme }) => scheme)).toContain(provider.verification.scheme)
        const headers = provider.schemes.map(({ signature }) =>
          signature.numberedName === undefined ? (signature.name ?? null) : `${signature.numberedName}1`,
        )
        if (provider.signatureHeader !== null) expect(headers).toContain(provider.signatureHeader)
      }
      for (const row of provider.schemes) expectComplete(row)
      for (const place of provider.eventTypes) if (place.in === 'body') nodesAt({}, place.name)
      for (const place of provider.eventId?.places ?? []) {
        for (const field of [place, place.within]) if (field?.in === 'body') nodesAt({}, field.name)
      }
      for (const { trigger } of provider.handshakes) {
        for (const path of Object.keys(trigger.json ?? {})) nodesAt({}, path)
      }
    },
  )
})

/** Checks the requirements of the engine that the schema cannot express. */
function expectComplete(row: SchemeRow): void {
  const { signature, timestamp } = row
  for (const template of [row.message ?? '', ...(row.messageAlternatives ?? [])]) compileMessage(template)
  const isNamed = signature.name !== undefined || signature.numberedName !== undefined
  expect(isNamed).toBe(!['body', 'rawbody'].includes(signature.in))
  expect(signature.path !== undefined).toBe(['body', 'formjson'].includes(signature.in))
  if (signature.path !== undefined) nodesAt({}, signature.path)
  expect(signature.pairSep !== undefined).toBe(signature.parse !== 'raw')
  expect(signature.kvSep !== undefined && signature.keys !== undefined).toBe(signature.parse.startsWith('kv'))
  expect(signature.groupSep !== undefined).toBe(signature.parse === 'kvgroups')
  if (timestamp?.in === 'body') nodesAt({}, timestamp.path ?? '')
  if (row.message?.includes('{id}')) expect(row.idHeader).toBeDefined()
  if (row.message?.includes('{timestamp}')) expect(timestamp).toBeDefined()
  if (row.mac === 'hmac' || row.mac === 'hash') expect(row.hash).toBeDefined()
  if (row.mac === 'jwt') expect(row.algs?.length).toBe(1)
  if (row.mac === 'fetched') expect(row.reason).toBeDefined()
}
