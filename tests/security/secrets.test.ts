import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { ROUTES } from '@creel/core'
import { sql } from 'kysely'
import { pino } from 'pino'
import { z } from 'zod'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, pathOf } from '../support/world.ts'

/**
 * Secrets are write-only. The test sets every secret, reads every route, and finds none in an answer, a log line or a
 * dump of the database, in any spelling.
 */

const marker = (of: string) => `${of}-${randomBytes(12).toString('hex')}`

const SECRETS = {
  signingSecret: marker('whsec'),
  handshakeToken: marker('handshake'),
  forwardSigningSecret: marker('forward'),
  actionSigningSecret: marker('action'),
  rotatedSigningSecret: marker('rotated'),
  authToken: marker('bearer'),
  channelSecret: marker('channel'),
  slackUrl: `https://hooks.slack.com/services/T000/B000/${marker('slack')}`,
}

const logLines: string[] = []
const answers: string[] = []
let service: TestService

/** Spellings in which a secret might be leaked. */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const base64 = bytes.toString('base64').replace(/=+$/, '')
  return [secret, bytes.toString('hex'), base64.slice(0, -2), encodeURIComponent(secret)]
}

function leaksIn(text: string, secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).some((spelling) => text.includes(spelling)) ? [name] : [],
  )
}

/** Every row of every table, ours and the queue's, as text. */
async function dump(): Promise<string> {
  const tables = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(service.db)
  const rows: string[] = []
  for (const { name } of tables.rows) {
    const table = await sql<{ line: string }>`select t::text as line from ${sql.raw(name)} t`.execute(
      service.db,
    )
    rows.push(...table.rows.map(({ line }) => line))
  }
  return rows.join('\n')
}

beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => logLines.push(line) })
  service = await startService({ log, limits: { apiRatePerMinute: 1_000_000 } })
  const { alice } = service
  const world = await makeWorld(alice)
  await using receiver = await startReceiver()
  const at = (path: string) => `/api/v1/endpoints/${world.ids.endpointId}${path}`
  const keep = async (answer: Promise<{ status: number; text: string }>, status: number) => {
    const { text, status: seen } = await answer
    if (seen !== status) throw new Error(`expected ${status}, got ${seen}: ${text}`)
    answers.push(text)
  }
  const { signingSecret, handshakeToken, forwardSigningSecret, channelSecret } = SECRETS
  await keep(
    alice.patch(at(''), { signingSecret, handshakeToken, signatureHeader: 'X-Sig', forwardSigningSecret }),
    200,
  )
  const action = await alice.expect(
    alice.post(at('/actions'), {
      kind: 'forward',
      url: receiver.url,
      signingSecret: SECRETS.rotatedSigningSecret,
      auth: { kind: 'bearer', token: SECRETS.authToken },
    }),
    z.looseObject({ id: z.string() }),
  )
  await keep(alice.put(at(`/actions/${action.id}`), { signingSecret: SECRETS.actionSigningSecret }), 200)
  const settings = { url: receiver.url }
  const channel = await alice.expect(
    alice.post('/api/v1/alert-channels', {
      kind: 'webhook',
      name: 'signed',
      secret: channelSecret,
      settings,
    }),
    z.looseObject({ id: z.string() }),
  )
  await keep(
    alice.post('/api/v1/alert-channels', { kind: 'slack', name: 's', secret: SECRETS.slackUrl }),
    201,
  )
  await keep(alice.post(`/api/v1/alert-channels/${channel.id}/test`), 200)
  const endpoint = await fetch(`${service.captureUrl}/hook/${world.ids.endpointId}`, {
    method: 'POST',
    body: '{}',
    headers: { 'X-Sig': 'wrong' },
  })
  answers.push(await endpoint.text())
  await keep(alice.post(at(`/requests/${world.ids.requestId}/replay`)), 200)
  // Wrong input that contains a secret must not be quoted in the answer.
  await keep(
    alice.patch(at(''), { signatureAlgorithm: 'md5', signingSecret, handshakeToken: `${handshakeToken}\0` }),
    400,
  )
  await keep(
    alice.post(at('/actions'), {
      kind: 'forward',
      url: receiver.url,
      auth: { kind: 'header', name: 'X Y', token: SECRETS.authToken, value: `${SECRETS.authToken}\n` },
    }),
    400,
  )
  await keep(
    alice.post(at('/actions'), {
      kind: 'forward',
      url: 'ftp://x',
      signingSecret: SECRETS.actionSigningSecret,
    }),
    400,
  )
  await keep(
    alice.post('/api/v1/alert-channels', { kind: 'slack', name: '', secret: `${SECRETS.slackUrl} ` }),
    400,
  )
  for (const route of ROUTES.filter(({ method, name }) => method === 'GET' && name !== 'requests.await')) {
    const query = `?endpointId=${world.ids.endpointId}`
    answers.push((await alice.get(pathOf(route, world.ids) + query)).text)
  }
  for (const path of ['/openapi/v1.json', '/metrics', '/readyz', '/docs']) {
    answers.push(await (await fetch(service.baseUrl + path)).text())
  }
})

describe('a secret that was given', () => {
  test('is in no answer', () => {
    expect(leaksIn(answers.join('\n'), SECRETS)).toEqual([])
  })

  test('is in no line of the log, however much is logged', () => {
    expect(logLines.length).toBeGreaterThan(10)
    expect(leaksIn(logLines.join('\n'), SECRETS)).toEqual([])
  })

  test('is nowhere in the database: only its sealed form is', async () => {
    const text = await dump()
    expect(text).toContain(service.alice.workspaceId)
    expect(leaksIn(text, SECRETS)).toEqual([])
  })
})

describe('an API key', () => {
  const keys = () => ({ alice: service.alice.key, bob: service.bob.key, charlie: service.charlie.key })

  test('is in no answer, no line of the log and not in the database', async () => {
    expect(leaksIn(answers.join('\n'), keys())).toEqual([])
    expect(leaksIn(logLines.join('\n'), keys())).toEqual([])
    expect(leaksIn(await dump(), keys())).toEqual([])
  })
})
