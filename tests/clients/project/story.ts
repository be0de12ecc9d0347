/** A complete use case in a program of another project: no cast, no assertion, no repetition of our types. */
import { CreelError, createCreel } from 'creel-client'
import { createCreelTrpc } from 'creel-client/trpc'
import { verifySignature } from 'creel-client/verify'

const [, , url = '', key = '', receiver = ''] = process.argv
const SECRET = 'sixteen characters'

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`Not so: ${what}`)
}

const creel = createCreel({ url, key })
const endpoint = await creel.endpoints.create({ name: 'story', ttlSeconds: 600 })
await endpoint.actions.create({ kind: 'forward', name: 'Billing', url: receiver, signingSecret: SECRET })

const waiting = endpoint.requests.await({ q: 'order.paid', state: 'Succeeded', timeoutSeconds: 30 })
await fetch(endpoint.url, { method: 'POST', body: '{"type":"order.created"}' })
await fetch(endpoint.url, { method: 'POST', body: '{"type":"order.paid"}' })
const paid = await waiting
check(paid !== null && paid.body === '{"type":"order.paid"}', 'the awaited request came')

const replayed = await endpoint.requests.replay(paid.id)
check(replayed.outcomes[0]?.statusCode === 200, 'the replay reached the receiver')

let seen = 0
for await (const attempt of endpoint.deliveries.list({ requestId: paid.id })) {
  seen += 1
  const { sent } = await endpoint.deliveries.get(attempt.id)
  const header = sent?.headers['creel-signature']
  const verdict = await verifySignature({ body: sent?.body ?? '', header, secret: SECRET })
  check(verdict.ok, `attempt ${attempt.id} is signed`)
}
check(seen === 2, 'there are two attempts')

const watchdog = await creel.watchdogs.create({ endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
check(watchdog.active && watchdog.lastMatchedRequestId === paid.id, 'the watchdog is armed')

const refusal = await creel.endpoints.create({ ttlSeconds: 1 }).catch((error: unknown) => error)
check(refusal instanceof CreelError && refusal.code === 'validation_failed', 'the refusal has a code')
check(refusal.errors[0]?.pointer === '#/ttlSeconds' && refusal.traceId !== null, 'it says what is wrong')

const listed = await createCreelTrpc(url, key).requests.list.query({
  endpointId: endpoint.id,
  method: 'post',
})
check(listed.totalCount === 2 && listed.items[0]?.id === paid.id, '/trpc lists the same')

const following = endpoint.requests.follow({ afterId: paid.id, signal: AbortSignal.timeout(30_000) })
const arrived = following.next()
await fetch(endpoint.url, { method: 'POST', body: '{"type":"order.shipped"}' })
const { value: shipped } = await arrived
check(shipped?.bodyPreview === '{"type":"order.shipped"}', 'the live stream tells of what arrives')
await following.return()

const command = await endpoint.requests.export(paid.id, 'curl')
check((await command.text()).startsWith('curl '), 'a request is written as a command')
const copy = await creel.endpoints.create({ name: 'copy', ttlSeconds: 600 })
const { importedCount } = await copy.requests.import(
  await endpoint.requests.exportAll({ includeSecrets: true }),
)
check(importedCount === 3, 'the history moved')
await copy.delete()

await endpoint.delete()
console.log('story told')
