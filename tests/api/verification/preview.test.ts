import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { startService } from '../../support/service.ts'

const service = await startService()
const client = service.alice

const SECRET = "It's a Secret to Everybody"
const BODY = '{"action":"opened"}'
const SIGNATURE = `sha256=${createHmac('sha256', SECRET).update(BODY).digest('hex')}`

test('tells the verdict that other settings would give, and saves nothing', async () => {
  const endpoint = await client.endpoint()
  const { id } = await endpoint.capture({ body: BODY, headers: { 'X-Hub-Signature-256': SIGNATURE } })
  const tried = async (members: object) =>
    (await client.post(endpoint.at('/verification/preview'), { requestId: id, ...members })).body
  expect(await tried({})).toEqual({ verification: null })
  expect(await tried({ provider: 'github', signingSecret: SECRET })).toMatchObject({
    verification: { verdict: 'verified' },
  })
  expect(await tried({ provider: 'github', signingSecret: 'another' })).toMatchObject({
    verification: { verdict: 'failed' },
  })
  expect(
    await tried({
      signatureHeader: 'X-Hub-Signature-256',
      signaturePrefix: 'sha256=',
      signingSecret: SECRET,
    }),
  ).toMatchObject({ verification: { verdict: 'verified' } })
  const after = await client.get(endpoint.at(''))
  expect(after.body).toMatchObject({ provider: null, verification: { secretSet: false } })
  expect((await client.get(endpoint.at(`/requests/${id}`))).body).toMatchObject({ verification: null })
})

test('what is left out is as saved; what is wrong is named, and an absent request is not found', async () => {
  const endpoint = await client.endpoint({ provider: 'github', signingSecret: SECRET })
  const { id } = await endpoint.capture({ body: BODY, headers: { 'X-Hub-Signature-256': SIGNATURE } })
  const path = endpoint.at('/verification/preview')
  expect((await client.post(path, { requestId: id })).body).toMatchObject({
    verification: { verdict: 'verified' },
  })
  expect((await client.post(path, { requestId: id, provider: 'nobody' })).body).toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer: '#/provider' }],
  })
  expect((await client.post(path, { requestId: id + 1000 })).status).toBe(404)
})
