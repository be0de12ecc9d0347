import { describe, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { hmacValidator as HmacValidator } from '@adyen/api-library'
import { verifyWebhook as verifyAsClerk } from '@clerk/backend/webhooks'
import type { CapturedRequest } from '@creel/core/engine/message'
import { PROVIDERS } from '@creel/core/engine/providers'
import { evaluate, prepareVerification } from '@creel/core/engine/verification'
import { validateSignature } from '@line/bot-sdk'
import { LinearWebhookClient } from '@linear/sdk/webhooks'
import { sign as signAsGitHub } from '@octokit/webhooks-methods'
import { Paddle } from '@paddle/paddle-node-sdk'
import { EventWebhook } from '@sendgrid/eventwebhook'
import { createSHA256HMAC } from '@shopify/shopify-api/runtime'
import { isValidSlackRequest } from '@slack/bolt'
import { WorkOS } from '@workos-inc/node'
import { SignatureValidator as MollieValidator } from 'mollie-api-typescript'
import Pusher from 'pusher'
import Razorpay from 'razorpay'
import { Resend } from 'resend'
import { WebhooksHelper as Square } from 'square'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'

/**
 * Compares our signature checks with the providers' own packages, which sign or accept the requests.
 *
 * Only Plaid of the twenty most used senders has no case: its key would have to be fetched, so its captures are
 * `unverifiable`.
 */

const URL = 'https://in.example.test/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'
const SECRET = 'a signing secret of the provider'
const BASE64_SECRET = `whsec_${Buffer.from(SECRET).toString('base64')}`

interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly contentType?: string
}

interface Case {
  readonly secret?: string
  /** Makes a request of the provider with this body. */
  readonly sign: (body: string, now: Date) => Promise<Sent> | Sent
  /** Whether the provider's package accepts the request; for packages that verify. */
  readonly accepts?: (sent: Sent, now: Date) => Promise<boolean> | boolean
}

const hmac = (text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', SECRET).update(text).digest(encoding)
const seconds = (now: Date) => String(Math.floor(now.getTime() / 1000))
const resolves = (promise: Promise<unknown>) =>
  promise.then(
    () => true,
    () => false,
  )

const svix: Case = {
  secret: BASE64_SECRET,
  sign: (body, now) => ({
    headers: {
      'svix-id': 'msg_1',
      'svix-timestamp': seconds(now),
      'svix-signature': new SvixWebhook(BASE64_SECRET).sign('msg_1', now, body),
    },
    body,
  }),
}

const ADYEN_KEY = Buffer.from(SECRET).toString('hex')
const sendgridKeys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })

/** Cases by the provider's slug. */
const CASES: Readonly<Record<string, Case>> = {
  stripe: {
    sign: async (body, now) => ({
      headers: {
        'Stripe-Signature': await Stripe.webhooks.generateTestHeaderStringAsync({
          payload: body,
          secret: SECRET,
          timestamp: Math.floor(now.getTime() / 1000),
        }),
      },
      body,
    }),
  },
  svix,
  clerk: {
    ...svix,
    accepts: ({ headers, body }) =>
      resolves(
        verifyAsClerk(new Request(URL, { method: 'POST', headers, body }), { signingSecret: BASE64_SECRET }),
      ),
  },
  resend: {
    ...svix,
    accepts: ({ headers, body }) => {
      try {
        new Resend('re_123').webhooks.verify({
          payload: body,
          headers: {
            id: headers['svix-id'] ?? '',
            timestamp: headers['svix-timestamp'] ?? '',
            signature: headers['svix-signature'] ?? '',
          },
          webhookSecret: BASE64_SECRET,
        })
        return true
      } catch {
        return false
      }
    },
  },
  mollie: {
    sign: async (body) => ({
      headers: { 'X-Mollie-Signature': `sha256=${await MollieValidator.createSignature(body, SECRET)}` },
      body,
    }),
    accepts: ({ headers, body }) =>
      MollieValidator.validate(body, SECRET, headers['X-Mollie-Signature'] ?? '').catch(() => false),
  },
  square: {
    sign: (body) => ({ headers: { 'x-square-hmacsha256-signature': hmac(URL + body, 'base64') }, body }),
    accepts: ({ headers, body }) =>
      Square.isValidWebhookEventSignature(body, headers['x-square-hmacsha256-signature'] ?? '', SECRET, URL),
  },
  'standard-webhooks': {
    secret: BASE64_SECRET,
    sign: (body, now) => ({
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': seconds(now),
        'webhook-signature': new StandardWebhook(BASE64_SECRET).sign('msg_1', now, body),
      },
      body,
    }),
  },
  github: {
    sign: async (body) => ({ headers: { 'X-Hub-Signature-256': await signAsGitHub(SECRET, body) }, body }),
  },
  twilio: {
    sign: (text) => {
      const fields = { Body: text, From: '+15550100', MessageStatus: 'sent' }
      return {
        headers: { 'X-Twilio-Signature': getExpectedTwilioSignature(SECRET, URL, fields) },
        body: new URLSearchParams(fields).toString(),
        contentType: 'application/x-www-form-urlencoded',
      }
    },
  },
  slack: {
    sign: (body, now) => ({
      headers: {
        'X-Slack-Signature': `v0=${hmac(`v0:${seconds(now)}:${body}`, 'hex')}`,
        'X-Slack-Request-Timestamp': seconds(now),
      },
      body,
    }),
    accepts: ({ headers, body }, now) =>
      isValidSlackRequest({
        signingSecret: SECRET,
        body,
        headers: {
          'x-slack-signature': headers['X-Slack-Signature'] ?? '',
          'x-slack-request-timestamp': Number(headers['X-Slack-Request-Timestamp']),
        },
        nowMilliseconds: now.getTime(),
      }),
  },
  shopify: {
    sign: async (body) => ({
      headers: { 'X-Shopify-Hmac-Sha256': await createSHA256HMAC(SECRET, body) },
      body,
    }),
  },
  paddle: {
    sign: (body, now) => ({
      headers: { 'Paddle-Signature': `ts=${seconds(now)};h1=${hmac(`${seconds(now)}:${body}`, 'hex')}` },
      body,
    }),
    accepts: ({ headers, body }) =>
      new Paddle('key').webhooks.isSignatureValid(body, SECRET, headers['Paddle-Signature'] ?? ''),
  },
  adyen: {
    secret: ADYEN_KEY,
    sign: (text) => ({ headers: {}, body: adyenBody([adyenItem(text), adyenItem('another')]) }),
  },
  razorpay: {
    sign: (body) => ({ headers: { 'X-Razorpay-Signature': hmac(body, 'hex') }, body }),
    accepts: ({ headers, body }) =>
      Razorpay.validateWebhookSignature(body, headers['X-Razorpay-Signature'] ?? '', SECRET),
  },
  line: {
    sign: (body) => ({ headers: { 'x-line-signature': hmac(body, 'base64') }, body }),
    accepts: ({ headers, body }) => validateSignature(body, SECRET, headers['x-line-signature'] ?? ''),
  },
  pusher: {
    sign: (body) => ({ headers: { 'X-Pusher-Key': 'key', 'X-Pusher-Signature': hmac(body, 'hex') }, body }),
    accepts: ({ headers, body }) =>
      new Pusher({ appId: '1', key: 'key', secret: SECRET, cluster: 'eu' })
        .webhook({
          headers: {
            'content-type': 'application/json',
            'x-pusher-key': headers['X-Pusher-Key'] ?? '',
            'x-pusher-signature': headers['X-Pusher-Signature'] ?? '',
          },
          rawBody: body,
        })
        .isValid(),
  },
  workos: {
    sign: (body, now) => ({
      headers: { 'WorkOS-Signature': `t=${now.getTime()}, v1=${hmac(`${now.getTime()}.${body}`, 'hex')}` },
      body,
    }),
    accepts: ({ headers, body }) =>
      resolves(
        new WorkOS('sk_test').webhooks.verifyHeader({
          payload: JSON.parse(body),
          sigHeader: headers['WorkOS-Signature'] ?? '',
          secret: SECRET,
        }),
      ),
  },
  linear: {
    sign: (text, now) => {
      const body = JSON.stringify({ type: 'Issue', text, webhookTimestamp: now.getTime() })
      return { headers: { 'Linear-Signature': hmac(body, 'hex') }, body }
    },
    accepts: ({ headers, body }) => {
      try {
        return new LinearWebhookClient(SECRET).verify(Buffer.from(body), headers['Linear-Signature'] ?? '')
      } catch {
        return false
      }
    },
  },
  sendgrid: {
    secret: sendgridKeys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    sign: (body, now) => ({
      headers: {
        'X-Twilio-Email-Event-Webhook-Signature': signBytes(
          'sha256',
          Buffer.from(seconds(now) + body),
          sendgridKeys.privateKey,
        ).toString('base64'),
        'X-Twilio-Email-Event-Webhook-Timestamp': seconds(now),
      },
      body,
    }),
    accepts: ({ headers, body }) => {
      const verifier = new EventWebhook()
      const pem = sendgridKeys.publicKey.export({ format: 'pem', type: 'spki' }).toString()
      return verifier.verifySignature(
        verifier.convertPublicKeyToECDSA(pem),
        body,
        headers['X-Twilio-Email-Event-Webhook-Signature'] ?? '',
        headers['X-Twilio-Email-Event-Webhook-Timestamp'] ?? '',
      )
    },
  },
}

function adyenItem(reference: string) {
  const item = {
    pspReference: reference,
    originalReference: '',
    merchantAccountCode: 'Acme',
    merchantReference: 'order 1',
    amount: { value: 1130, currency: 'EUR' },
    eventCode: 'AUTHORISATION',
    eventDate: '2026-11-21T09:15:00+01:00',
    success: 'true',
    paymentMethod: 'visa',
    reason: '',
    operations: [],
    additionalData: {},
  }
  // As on the wire: enumerations of the package become texts.
  const hmacSignature = new HmacValidator().calculateHmac(JSON.parse(JSON.stringify(item)), ADYEN_KEY)
  return { ...item, additionalData: { hmacSignature } }
}

function adyenBody(items: readonly object[]): string {
  return JSON.stringify({
    live: 'false',
    notificationItems: items.map((item) => ({ NotificationRequestItem: item })),
  })
}

/** Our verdict on the request. */
function verdictOf(slug: string, { headers, body, contentType = 'application/json' }: Sent, now: Date) {
  const bytes = Buffer.from(body)
  const request: CapturedRequest = {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt: now,
    method: 'POST',
    path: '',
    queryString: null,
    headers: [['Content-Type', contentType], ...Object.entries(headers)],
    contentType,
    body: bytes,
    sizeBytes: bytes.length,
    bodyTruncated: false,
    ip: null,
  }
  const prepared = prepareVerification({
    provider: slug,
    signingSecret: CASES[slug]?.secret ?? SECRET,
    handshakeToken: null,
    manual: null,
  })
  return evaluate(prepared, request, URL)?.verdict
}

const BODIES = ['{"id":"evt_1","type":"thing.happened","name":"Zoë 😀"}', '{"a":1,"b":[true,null,"x y"]}']

describe('what the package of a provider signs or accepts', () => {
  test.each(Object.entries(CASES))('%s', async (slug, { sign, accepts }) => {
    expect(PROVIDERS.some((provider) => provider.slug === slug)).toBe(true)
    const now = new Date()
    for (const body of BODIES) {
      const sent = await sign(body, now)
      expect([slug, verdictOf(slug, sent, now)]).toEqual([slug, 'verified'])
      if (accepts !== undefined) expect([slug, await accepts(sent, now)]).toEqual([slug, true])
      const other = await sign(body.replace('1', '2'), now)
      const forged = { ...sent, body: other.body }
      if (slug !== 'adyen') expect([slug, verdictOf(slug, forged, now)]).toEqual([slug, 'failed'])
      if (accepts !== undefined) expect([slug, await accepts(forged, now)]).toEqual([slug, false])
    }
  })

  test('of Adyen, every item of a body counts: one forged item is enough to fail', () => {
    const now = new Date()
    const [first, second] = [adyenItem('one'), adyenItem('two')]
    const verdict = (...items: object[]) => verdictOf('adyen', { headers: {}, body: adyenBody(items) }, now)
    expect(verdict(first, second)).toBe('verified')
    expect(verdict(first, { ...second, success: 'false' })).toBe('failed')
    expect(verdict({ ...first, success: 'false' }, second)).toBe('failed')
    expect(verdict(first, { ...second, additionalData: {} })).not.toBe('verified')
  })
})

test('what Plaid signs cannot be verified here, and the verdict says so', () => {
  const headers = { 'Plaid-Verification': 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.e30.c2lnbmF0dXJl' }
  expect(verdictOf('plaid', { headers, body: '{"webhook_code":"SYNC_UPDATES_AVAILABLE"}' }, new Date())).toBe(
    'unverifiable',
  )
})
