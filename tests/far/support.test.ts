import { expect, test } from 'bun:test'
import { Client } from 'pg'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { answersAfter, neverAnswers, startDeafReceiver, trickles } from '../support/hangingReceivers.ts'
import { startReceiver } from '../support/receiver.ts'

async function connected(url: string): Promise<Client> {
  const client = new Client(url)
  client.on('error', () => {})
  await client.connect()
  return client
}

const database = await createTestDatabase({ isEmpty: true })

test('a database is as far away as asked: a round trip takes both ways', async () => {
  const far = await startFar(database)
  const client = await connected(far.url)
  const begun = performance.now()
  await client.query('select 1')
  // Timers of the two ways may end a moment early.
  expect(performance.now() - begun).toBeGreaterThan(30)
  // Bytes arrive whole and in order.
  const { rows } = await client.query<{ text: string }>(
    "select string_agg(n::text, ',') as text from generate_series(1, 100000) n",
  )
  expect(rows[0]?.text.split(',').map(Number)).toEqual(Array.from({ length: 100_000 }, (_, at) => at + 1))
  const long = 'x'.repeat(9_000_000)
  const echoed = await client.query<{ length: number }>('select length($1) as length', [long])
  expect(echoed.rows[0]?.length).toBe(long.length)
  await client.end()
})

test('a cut breaks the open connections, and the next ones work', async () => {
  const far = await startFar(database, 1)
  const client = await connected(far.url)
  const query = client.query('select pg_sleep(60)').then(
    () => 'answered',
    () => 'broken',
  )
  far.path.cut()
  expect(await query).toBe('broken')
  const next = await connected(far.url)
  expect((await next.query('select 1')).rowCount).toBe(1)
  await next.end()
})

test('a lost connection hangs without an error, and the next ones work', async () => {
  const far = await startFar(database, 1)
  const client = await connected(far.url)
  far.path.lose()
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  client.query('select 1').then(settle, settle)
  const next = await connected(far.url)
  for (let at = 0; at < 20; at += 1) await next.query('select 1')
  expect(isSettled).toBe(false)
  await next.end()
  far.path.cut()
  await eventually('the end of the query', () => isSettled)
})

test('in silence nothing arrives, and afterwards everything does', async () => {
  const far = await startFar(database, 1)
  const client = await connected(far.url)
  const near = await connected(far.near.url)
  far.path.isSilent = true
  let isAnswered = false
  const query = client.query('select 2 as silence').then(() => {
    isAnswered = true
  })
  for (let at = 0; at < 20; at += 1) await near.query('select 1')
  expect(isAnswered).toBe(false)
  far.path.isSilent = false
  await query
  expect(isAnswered).toBe(true)
  await client.end()
  await near.end()
})

test('receivers hang in each of the ways', async () => {
  await using receiver = await startReceiver(neverAnswers)
  const never = new AbortController()
  const unanswered = fetch(receiver.url, { method: 'POST', body: '1', signal: never.signal }).catch(
    () => 'given up',
  )
  await receiver.take(1)
  receiver.answer = answersAfter(50, 503)
  const begun = performance.now()
  expect((await fetch(receiver.url)).status).toBe(503)
  expect(performance.now() - begun).toBeGreaterThanOrEqual(49)
  receiver.answer = trickles(1)
  const answer = await fetch(receiver.url)
  const reader = answer.body?.getReader()
  for (let at = 0; at < 5; at += 1) expect(await reader?.read()).toMatchObject({ done: false })
  await reader?.cancel()
  never.abort()
  expect(await unanswered).toBe('given up')
  const deaf = await startDeafReceiver()
  const body = new Uint8Array(64 * 1024 * 1024)
  const early = fetch(deaf.url, { method: 'POST', body, signal: AbortSignal.timeout(300) })
  expect(await early.catch(({ name }: Error) => name)).toBe('TimeoutError')
})
