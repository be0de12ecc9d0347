import { describe, expect, test } from 'bun:test'
import { PROVIDERS, type SchemeRow } from '@creel/core/engine/providers'
import { SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS } from '@creel/core/engine/verification'
import { manualSchemeRow } from '../../../core/src/engine/verification/settings.ts'
import { type SignedRequest, signedRequest, type TestKey, testKey } from '../../support/signedRequest.ts'
import { startVerificationService, subject } from './support.ts'

const service = await startVerificationService()
const client = await service.newClient()

interface Case {
  readonly name: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly row: SchemeRow
}

const CASES: readonly Case[] = [
  ...PROVIDERS.flatMap(({ slug, schemes }) =>
    schemes
      .filter(({ mac }) => mac !== 'fetched')
      .map((row) => ({ name: `${slug} ${row.id}`, settings: { provider: slug }, row })),
  ),
  ...SIGNATURE_ALGORITHMS.flatMap((algorithm) =>
    SIGNATURE_ENCODINGS.map((encoding) => ({
      name: `manual ${algorithm} ${encoding}`,
      settings: {
        signatureHeader: 'X-My-Signature',
        signatureAlgorithm: algorithm,
        signatureEncoding: encoding,
        signaturePrefix: 'v1=',
      },
      row: manualSchemeRow({ header: 'X-My-Signature', algorithm, encoding, prefix: 'v1=' }),
    })),
  ),
]

/** A request for the wire: its path and query follow the capture URL. */
const wire = (sent: SignedRequest, publicUrl: string) => ({
  ...sent,
  suffix: sent.url.slice(publicUrl.length),
})

const SEALED = new Map<string, TestKey>()
function keyOf(row: SchemeRow, seed: string): TestKey {
  const name = JSON.stringify([row.mac, row.key, row.when?.secretPrefix, seed])
  const key = SEALED.get(name) ?? testKey(row, seed)
  SEALED.set(name, key)
  return key
}

describe('what each provider and each manual algorithm signs', () => {
  test.each(CASES.map((each) => [each.name, each] as const))('%s', async (_, { settings, row }) => {
    const key = keyOf(row, '')
    const endpoint = await subject(service, client, { ...settings, signingSecret: key.saved })
    const url = `${endpoint.publicUrl}/a%20b`
    const sign = (by: TestKey, now: Date) => signedRequest(row, { key: by, url, now })
    const now = service.clock.now()

    const right = wire(sign(key, now), endpoint.publicUrl)
    const foreign = wire(sign(keyOf(row, 'other'), now), endpoint.publicUrl)
    const window = row.timestamp?.toleranceSeconds
    const late = new Date(now.getTime() + (Math.max(window ?? 0, 60) + 2) * 1000)
    const signsBody = row.message?.includes('{body}') === true

    const verdicts = await endpoint.sendAll([
      [right, now],
      [foreign, now],
      [{ body: '', suffix: '/a%20b' }, now],
      ...(window === undefined ? [] : [[right, late] as const]),
      ...(signsBody ? [[{ ...right, body: `${right.body} ` }, now] as const] : []),
    ])
    expect(verdicts).toMatchObject([
      { verdict: 'verified', answer: { status: expect.any(Number) } },
      { verdict: 'failed' },
      { verdict: 'unsigned' },
      ...(window === undefined ? [] : [{ verdict: 'failed', note: expect.stringContaining('at most') }]),
      ...(signsBody ? [{ verdict: 'failed' }] : []),
    ])

    await client.patch(`/api/v1/endpoints/${endpoint.id}`, { signingSecret: '' })
    const unchecked = await endpoint.send(right, now)
    expect(unchecked).toMatchObject({ verdict: null, note: null })
  })
})
