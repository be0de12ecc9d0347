import { beforeAll, expect, test } from 'bun:test'
import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import { createSecretBox } from '@creel/core'
import { sql } from 'kysely'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { countLockWaits } from '../support/lockWaits.ts'
import { runCreel } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'

/** Keys of stored secrets: replaced while the service runs. One workspace's secrets never open as another's. */

const former = randomBytes(32)
const newest = randomBytes(32)
const SECRET = 'whsec-0123456789abcdef'

let before: TestService
let service: TestService
let endpoint: TestEndpoint

beforeAll(async () => {
  before = await startService({ secretKey: former })
  endpoint = await before.alice.endpoint({
    provider: 'github',
    signingSecret: SECRET,
    handshakeToken: 'handshake-token',
    forwardUrl: 'http://127.0.0.1:9/',
    forwardSigningSecret: SECRET,
  })
  await before.alice.post('/api/v1/alert-channels', {
    kind: 'webhook',
    name: 'hook',
    secret: SECRET,
    settings: { url: 'http://127.0.0.1:9/' },
    events: [],
  })
  await before.alice.post(endpoint.at('/actions'), {
    kind: 'forward',
    url: 'http://127.0.0.1:9/',
    auth: { kind: 'bearer', token: SECRET },
  })
  // As 0.1.0 sealed: no key id, no owner.
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', former, nonce)
  const ciphertext = Buffer.concat([cipher.update(SECRET, 'utf8'), cipher.final()])
  const bare = Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), ciphertext])
  await before.db
    .updateTable('endpoints')
    .set({ signingSecret: bare })
    .where('id', '=', endpoint.id)
    .execute()
  const { database, clock } = before
  service = await startService({ database, clock, secretKey: newest, formerSecretKeys: [former] })
})

/** The verdict on a webhook that GitHub would have signed. */
async function verdictAt(one: TestService): Promise<unknown> {
  const body = '{"zen":"Keep it logically awesome."}'
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const response = await fetch(`${one.captureUrl}/hook/${endpoint.id}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': `sha256=${signature}` },
  })
  expect(response.status).toBe(200)
  const { body: list } = await one.alice.call('GET', endpoint.at('/requests?pageSize=1'), undefined, {
    headers: { Authorization: `Bearer ${before.alice.key}` },
  })
  return Object(list).items[0].verification.verdict
}

/** Every sealed value of the database. */
async function sealedValues(): Promise<readonly { readonly owner: string; readonly sealed: Buffer }[]> {
  const { rows } = await sql<{ owner: string; sealed: Buffer }>`
    select workspace_id::text as owner, unnest(array[signing_secret, handshake_token]) as sealed from endpoints
    union all
    select workspace_id::text, unnest(array[signing_secret, previous_signing_secret, auth_secrets, tls_client_key])
      from actions
    union all
    select workspace_id::text, secret from alert_channels
    union all
    select 'installation', value from installation where name = 'secret_key_sample'`.execute(service.db)
  return rows.filter(({ sealed }) => sealed !== null)
}

test('the former key goes on opening, also what 0.1.0 sealed', async () => {
  expect(await verdictAt(service)).toBe('verified')
})

test('rotation seals everything anew while the service runs, and changes nothing a second time', async () => {
  const { length } = await sealedValues()
  expect(length).toBe(6)
  expect(await service.operator.secrets.rotate()).toMatchObject({ resealedCount: 5, unreadableCount: 0 })
  const box = createSecretBox([newest])
  for (const { owner, sealed } of await sealedValues()) {
    expect(box.isCurrent(sealed)).toBe(true)
    expect(() => box.open(sealed, owner)).not.toThrow()
    expect(() => box.open(sealed, before.charlie.workspaceId)).toThrow()
  }
  expect(await verdictAt(service)).toBe('verified')
  expect(await service.operator.secrets.rotate()).toMatchObject({ resealedCount: 0, unreadableCount: 0 })
  const { items } = await service.operator.audit.list({ action: 'secrets.rotate' })
  expect(items).toMatchObject([{ after: { resealedCount: 0 } }, { after: { resealedCount: 5 } }])
})

test('then the new key is enough, and the former one alone is refused', async () => {
  const { database, clock } = before
  const alone = await startService({ database, clock, secretKey: newest })
  expect(await verdictAt(alone)).toBe('verified')
  await alone.stop()
  const refused = startService({ database, clock, secretKey: former })
  expect(refused).rejects.toThrow('is not the key that this database was set up with')
  await refused.catch(() => undefined)
})

test("a rotation with a key that is not the database's is refused, and changes nothing", async () => {
  const sealed = await sealedValues()
  for (const wrong of [former, randomBytes(32)]) {
    const env = { CREEL_SECRET_KEY: wrong.toString('base64') }
    const rotated = await runCreel(['secrets', 'rotate'], { database: before.database, env })
    expect(rotated).toMatchObject({ exitCode: 1, stdout: '' })
    expect(rotated.stderr).toMatch(
      /^creel: CREEL_SECRET_KEY is not the key that this database was set up with/,
    )
  }
  expect(await sealedValues()).toEqual(sealed)
})

test('what no key opens is counted and left as it is', async () => {
  const lost = createSecretBox([randomBytes(32)]).seal('lost', before.alice.workspaceId)
  await service.db
    .updateTable('endpoints')
    .set({ handshakeToken: lost })
    .where('id', '=', endpoint.id)
    .execute()
  expect(await service.operator.secrets.rotate()).toMatchObject({ resealedCount: 0, unreadableCount: 1 })
  const row = await service.db
    .selectFrom('endpoints')
    .select('handshakeToken')
    .where('id', '=', endpoint.id)
    .executeTakeFirstOrThrow()
  expect(row.handshakeToken).toEqual(lost)
})

test('a signing secret that is replaced while the rotation waits for its row is sealed anew as well', async () => {
  const { database, clock } = before
  const key = randomBytes(32)
  const another = await startService({ database, clock, secretKey: key, formerSecretKeys: [newest] })
  const { db } = service
  const { id } = await db
    .selectFrom('actions')
    .where('endpointId', '=', endpoint.id)
    .where('signingSecret', 'is not', null)
    .select('id')
    .executeTakeFirstOrThrow()
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = db.transaction().execute(async (trx) => {
    await sql`select from actions where id = ${id} for update`.execute(trx)
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const rotating = another.operator.secrets.rotate()
  await eventually('the rotation waits', async () => (await countLockWaits(db)) === 1)
  const changing = another.alice.call(
    'PUT',
    endpoint.at(`/actions/${id}`),
    { signingSecret: SECRET.toUpperCase() },
    { headers: { Authorization: `Bearer ${before.alice.key}` } },
  )
  await eventually('the change waits', async () => (await countLockWaits(db)) === 2)
  released.resolve()
  await Promise.all([holding, rotating])
  expect((await changing).status).toBe(200)
  const stored = await db
    .selectFrom('actions')
    .where('id', '=', id)
    .select('previousSigningSecret')
    .executeTakeFirstOrThrow()
  const box = createSecretBox([key])
  expect(box.open(stored.previousSigningSecret ?? Buffer.of(), before.alice.workspaceId)).toBe(SECRET)
})
