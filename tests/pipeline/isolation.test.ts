import { expect, test } from 'bun:test'
import { attemptsEnded } from '../support/attempts.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const EACH = 300

test('a destination that never answers holds up its own deliveries and nobody else’s', async () => {
  await using dead = await startReceiver(() => {})
  await using live = await startReceiver()
  const { alice, db } = await startService({ limits: { captureRatePerMinute: 100_000 } })
  const deadEndpoint = await alice.endpoint({ forwardUrl: dead.url })
  const liveEndpoint = await alice.endpoint({ forwardUrl: live.url })
  for (let sent = 0; sent < EACH; sent += 10) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? deadEndpoint : liveEndpoint).send()),
    )
    for (const answer of answers) await answer.body?.cancel()
  }
  await live.take(EACH)
  // The deliveries to the dead destination are all still open: nothing waited for them.
  const { open } = await db
    .selectFrom('deliveries')
    .where('endpointId', '=', deadEndpoint.id)
    .select((of) => of.fn.countAll<number>().as('open'))
    .executeTakeFirstOrThrow()
  expect(open).toBe(EACH)
  expect(live.received).toHaveLength(EACH)
}, 60_000)

test('an action that cannot be read stops no other', async () => {
  await using receiver = await startReceiver()
  const gateway = await startService({ parts: ['gateway'] })
  const { alice, db, database, secretKey, clock } = gateway
  const broken = await alice.endpoint({ forwardUrl: receiver.url, forwardSigningSecret: 's'.repeat(16) })
  const whole = await alice.endpoint({ forwardUrl: receiver.url })
  await db
    .updateTable('actions')
    .set({ signingSecret: Buffer.from('sealed by nobody') })
    .where('endpointId', '=', broken.id)
    .execute()
  await broken.capture()
  const { id } = await whole.capture()
  // Both are due in one batch when the jobs start.
  await startService({ parts: ['jobs'], database, secretKey, clock })
  const [only] = await receiver.take(1)
  expect(only?.header('creel-request-id')).toBe(String(id))
  await attemptsEnded(gateway, whole)
  const left = await db.selectFrom('deliveries').select('endpointId').execute()
  expect(left).toEqual([{ endpointId: broken.id }])
}, 60_000)
