import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { findProvider, type SchemeRow } from '@creel/core/engine/providers'
import { Evidence } from '../../../core/src/engine/verification/evidence.ts'
import { compileMessage } from '../../../core/src/engine/verification/message.ts'
import vectors from '../../../core/src/engine/verification/vectors.json' with { type: 'json' }
import { startVerificationService, subject } from './support.ts'

type Vector = (typeof vectors)[number]

const service = await startVerificationService()
const client = await service.newClient()

/** Tolerances under 60 s are raised to 60 s; this vector is 6 s late, and the SDK allows 5 s. */
const isWidened = ({ provider, reason }: Vector) =>
  provider === 'paddle' && reason === 'timestamp outside tolerance'

function headersOf(vector: Vector): [string, string][] {
  return Object.entries(vector.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
}

function schemeOf({ provider, scheme }: Vector): SchemeRow {
  const row = findProvider(provider)?.schemes.find(({ id }) => id === scheme)
  if (row === undefined) throw new Error(`The catalog has no scheme ${scheme} of ${provider}.`)
  return row
}

/** Whether the signature covers the URL. One that was made for another URL cannot be right here. */
const isUrlBound = (vector: Vector) => /\{url|\{fn:plivo|\{fn:contentful/.test(schemeOf(vector).message ?? '')

/**
 * The same request, signed for our public URL. Only for vectors that verify under their own URL, which the unit tests
 * check. So the message is known to be right, and this test checks which URL goes into it.
 */
function resigned(vector: Vector, url: string, headers: [string, string][]): [string, string][] {
  const row = schemeOf(vector)
  const at = url.indexOf('?')
  const request = {
    ...{ endpointId: '', receivedAt: new Date(), path: '', sizeBytes: 0, bodyTruncated: false, ip: null },
    method: vector.method,
    queryString: at < 0 ? null : url.slice(at + 1),
    headers,
    contentType: headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null,
    body: Buffer.from(vector.body),
  }
  const evidence = new Evidence(request, url)
  const secret = Buffer.from(vector.secret)
  const timestamp = evidence.header(row.timestamp?.name ?? '')
  const message = compileMessage(row.message ?? '')({ scheme: row, evidence, timestamp, secret })
  if ('missing' in message) throw new Error(`The vector lacks ${message.missing}.`)
  const hash = row.hash === undefined || row.hash === 'from-prefix' ? 'sha256' : row.hash
  const digest = row.mac === 'hash' ? createHash(hash) : createHmac(hash, secret)
  for (const piece of message.pieces) digest.update(piece)
  const signature = digest.digest(row.signature.encoding === 'hex' ? 'hex' : 'base64')
  return headers.map(([name, value]) =>
    name.toLowerCase() === row.signature.name?.toLowerCase() ? [name, signature] : [name, value],
  )
}

describe('every vector through the capture route', () => {
  test.each(
    vectors.map((vector, index) => [`${index} ${vector.provider} ${vector.expected}`, vector] as const),
  )('%s', async (_, vector) => {
    const { provider, secret: signingSecret } = vector
    const endpoint = await subject(service, client, { provider, signingSecret })
    const query = vector.url?.indexOf('?') ?? -1
    const suffix = query < 0 ? '' : (vector.url?.slice(query) ?? '')
    const headers = headersOf(vector)
    const isResigned = vector.expected === 'verified' && isUrlBound(vector)
    const { verdict, note } = await endpoint.send(
      {
        method: vector.method,
        headers: isResigned ? resigned(vector, endpoint.publicUrl + suffix, headers) : headers,
        body: vector.body,
        suffix,
      },
      vector.receivedAt === null ? null : new Date(vector.receivedAt),
    )
    expect({ verdict, note }).toEqual({
      verdict: isWidened(vector) ? 'verified' : vector.expected,
      note: expect.any(String),
    })
    expect(note).not.toContain(signingSecret)
  })
})
