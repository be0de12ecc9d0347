import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { evaluate } from './evaluate.ts'
import { prepareVerification } from './prepare.ts'

const URL = 'https://in.example.test/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'
const KEY = Buffer.from('a signing secret of the provider').toString('hex')

/** As Adyen documents it: eight fields, joined by colons. */
function item(reference: string) {
  const signed = [reference, '', 'Acme', 'order 1', '1130', 'EUR', 'AUTHORISATION', 'true'].join(':')
  return {
    pspReference: reference,
    merchantAccountCode: 'Acme',
    merchantReference: 'order 1',
    amount: { value: 1130, currency: 'EUR' },
    eventCode: 'AUTHORISATION',
    success: 'true',
    additionalData: {
      hmacSignature: createHmac('sha256', Buffer.from(KEY, 'hex')).update(signed).digest('base64'),
    },
  }
}

function verificationOf(...items: readonly object[]) {
  const body = Buffer.from(
    JSON.stringify({ notificationItems: items.map((one) => ({ NotificationRequestItem: one })) }),
  )
  return evaluate(
    prepareVerification({ provider: 'adyen', signingSecret: KEY, handshakeToken: null, manual: null }),
    {
      endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
      receivedAt: new Date(),
      method: 'POST',
      path: '',
      queryString: null,
      headers: [['Content-Type', 'application/json']],
      contentType: 'application/json',
      body,
      sizeBytes: body.length,
      bodyTruncated: false,
      ip: null,
    },
    URL,
  )
}

test('of Adyen, every item of a body counts: one forged item is enough to fail', () => {
  const [first, second] = [item('one'), item('two')]
  expect(verificationOf(first)?.verdict).toBe('verified')
  expect(verificationOf(first, second)?.verdict).toBe('verified')
  const forged = { ...second, success: 'false' }
  expect(verificationOf(first, forged)).toMatchObject({
    verdict: 'failed',
    note: expect.stringContaining('notificationItems[1]'),
  })
  expect(verificationOf(forged, first)?.verdict).toBe('failed')
  expect(verificationOf(first, { ...second, additionalData: {} })?.verdict).toBe('failed')
  expect(verificationOf({ ...first, additionalData: {} })?.verdict).toBe('unsigned')
  expect(verificationOf(...Array.from({ length: 101 }, () => first))?.verdict).toBe('unverifiable')
})
