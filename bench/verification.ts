/**
 * `bun run bench:verification`: the cost of verification for a capture, in microseconds: verdict, label and handshake
 * together, as on the capture path, on a prepared endpoint. No network, no database.
 */
import { parseArgs } from 'node:util'
import type { CapturedRequest } from '@creel/core/engine/message'
import { findProvider } from '@creel/core/engine/providers'
import {
  evaluate,
  handshakeAnswer,
  labelOf,
  prepareVerification,
  SIGNATURE_ALGORITHMS,
  type VerificationSettings,
} from '@creel/core/engine/verification'
import { manualSchemeRow } from '../core/src/engine/verification/settings.ts'
import { type SignedRequest, signedRequest, testKey } from '../tests/support/signedRequest.ts'
import { report } from './support/report.ts'

const { values } = parseArgs({ options: { milliseconds: { type: 'string', default: '300' } } })
const MILLISECONDS = Number(values.milliseconds)
const ROUNDS = 10

const URL = 'https://in.example.test/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'
const NOW = new Date()

/** Usual headers of a sender, behind a proxy. */
const USUAL_HEADERS: readonly (readonly [string, string])[] = [
  ['Host', 'in.example.test'],
  ['User-Agent', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)'],
  ['Accept', '*/*; q=0.5, application/xml'],
  ['Cache-Control', 'no-cache'],
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-Proto', 'https'],
]

function captured(sent: SignedRequest): CapturedRequest {
  const body = Buffer.from(sent.body)
  const query = sent.url.indexOf('?')
  return {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt: NOW,
    method: sent.method,
    path: '',
    queryString: query < 0 ? null : sent.url.slice(query + 1),
    headers: [...USUAL_HEADERS, ...sent.headers],
    contentType: sent.headers.find(([name]) => name === 'Content-Type')?.[1] ?? null,
    body,
    sizeBytes: body.length,
    bodyTruncated: false,
    ip: null,
  }
}

interface Case {
  readonly name: string
  readonly settings: VerificationSettings
  readonly request: CapturedRequest
  readonly url: string
}

const NONE: VerificationSettings = { provider: null, signingSecret: null, handshakeToken: null, manual: null }

/** A request of a scheme, padded to a size; the signature covers the padding. */
function signedCase(name: string, settings: VerificationSettings, bodyBytes: number): Case {
  const row =
    settings.manual === null
      ? findProvider(settings.provider ?? '')?.schemes[0]
      : manualSchemeRow(settings.manual)
  if (row === undefined) throw new Error(`${name} has no scheme.`)
  const key = testKey(row)
  const options = { key, url: URL, now: NOW, padding: 'x'.repeat(bodyBytes) }
  const sent = signedRequest(row, options)
  return { name, settings: { ...settings, signingSecret: key.saved }, request: captured(sent), url: sent.url }
}

const preset = (provider: string) => ({ ...NONE, provider })

const CASES: readonly Case[] = [
  { ...signedCase('', preset('github'), 1000), name: 'nothing to check, 1 KB', settings: NONE },
  ...[
    'github',
    'stripe',
    'svix',
    'shopify',
    'slack',
    'twilio',
    'gitlab',
    'vonage',
    'discord',
    'sendgrid',
  ].map((provider) => signedCase(`${provider}, 1 KB`, preset(provider), 1000)),
  ...SIGNATURE_ALGORITHMS.map((algorithm) =>
    signedCase(
      `manual ${algorithm}, 1 KB`,
      { ...NONE, manual: { header: 'X-My-Signature', algorithm, encoding: 'hex', prefix: '' } },
      1000,
    ),
  ),
  signedCase('stripe, 64 KB', preset('stripe'), 64_000),
  signedCase('stripe, 1 MB', preset('stripe'), 1_000_000),
  ...[1000, 60_000, 1_000_000].map((bytes) => {
    const good = signedCase('', preset('stripe'), bytes)
    const settings = { ...good.settings, signingSecret: 'whsec_another' }
    return { ...good, name: `stripe with a wrong secret, ${bytes / 1000} KB`, settings }
  }),
]

for (const { name, settings, request, url } of CASES) {
  const prepared = prepareVerification(settings)
  const run = () => {
    // A new body object, as in every capture, so that nothing parsed before is reused.
    const fresh = { ...request, body: Buffer.from(request.body) }
    const verification = evaluate(prepared, fresh, url)
    labelOf(prepared.provider, fresh)
    handshakeAnswer(prepared, fresh, verification, { publicUrl: url, captureRatePerMinute: 600 })
    return verification
  }
  const verdict = run()?.verdict ?? 'null'
  const microseconds = timed(run)
  report({ group: 'verification', name: `${name} (${verdict})`, value: microseconds, unit: 'µs a capture' })
}

/** The mean of the best of several rounds, after a warm-up, to reduce the effect of other work on the machine. */
function timed(run: () => unknown): number {
  const mean = (milliseconds: number) => {
    const started = performance.now()
    let runs = 0
    while (performance.now() - started < milliseconds) {
      run()
      runs += 1
    }
    return ((performance.now() - started) / runs) * 1000
  }
  mean(MILLISECONDS / 3)
  return Math.min(...Array.from({ length: ROUNDS }, () => mean(MILLISECONDS / ROUNDS)))
}
