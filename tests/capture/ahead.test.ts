import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { field, INT4, Pipeline } from '@creel/core/platform/db'
import { Client } from 'pg'
import { createTestDatabase } from '../support/database.ts'

/** A batch of captures is sent while the previous one is being stored. Each is still its own transaction. */

const { url } = await createTestDatabase({ isEmpty: true })
const client = new Client({ connectionString: url })
const other = new Client({ connectionString: url })
let pipeline: Pipeline

beforeAll(async () => {
  await Promise.all([client.connect(), other.connect()])
  await client.query('create table numbers (n int primary key)')
  await client.query('create table gate ()')
  pipeline = new Pipeline(client)
  await pipeline.prepare('add', 'insert into numbers values ($1)')
  await pipeline.prepare('pass', 'select from gate')
  await pipeline.prepare('copy', 'copy numbers from stdin (format binary)')
})

beforeEach(() => client.query('truncate numbers'))
afterAll(() => Promise.all([client.end(), other.end()]))

const add = (...numbers: number[]) =>
  pipeline.run(() => {
    for (const number of numbers) pipeline.execute('add', [field(INT4, number)])
  })

const copy = (numbers: readonly number[]) =>
  pipeline.run(() => pipeline.copyIn('copy', 1, numbers, (buffer, number) => void buffer.value(INT4, number)))

/** Adds a number. The statement waits in PostgreSQL until `open` is called. */
async function heldUp(number: number) {
  await other.query('begin')
  await other.query('lock table gate')
  const added = pipeline.run(() => {
    pipeline.execute('pass', [])
    pipeline.execute('add', [field(INT4, number)])
  })
  return { added, open: () => other.query('commit') }
}

/** The error of work that fails, perhaps before the test awaits it. */
const failureOf = (work: Promise<unknown>) => work.then(() => 'none', String)

async function stored(): Promise<number[]> {
  const { rows } = await other.query<{ n: number }>('select n from numbers order by n')
  return rows.map(({ n }) => n)
}

test('one more may follow the one under way, and not a third', async () => {
  expect(pipeline.mayFollow).toBe(false)
  const first = await heldUp(1)
  expect(pipeline.mayFollow).toBe(true)
  const second = add(2)
  expect(pipeline.mayFollow).toBe(false)
  await first.open()
  await Promise.all([first.added, second])
  expect(await stored()).toEqual([1, 2])
})

test('what follows was sent before the answer to the one before: it is stored though nothing more is sent', async () => {
  const first = await heldUp(1)
  const second = add(2)
  // From here on node-postgres could not send it.
  const { stream } = Reflect.get(client, 'connection')
  const write = stream.write
  stream.write = () => {
    throw new Error('sent too late')
  }
  try {
    await first.open()
    await Promise.all([first.added, second])
  } finally {
    stream.write = write
  }
  expect(await stored()).toEqual([1, 2])
})

test('one that fails undoes itself, and neither the one before nor the one behind', async () => {
  const first = await heldUp(1)
  const failing = failureOf(add(2, 1))
  await first.open()
  await first.added
  const behind = add(3)
  expect(await failing).toContain('duplicate key')
  await behind
  expect(await stored()).toEqual([1, 3])

  const wrong = failureOf(add(3))
  const after = copy([4, 5])
  expect(await wrong).toContain('duplicate key')
  await after
  expect(await stored()).toEqual([1, 3, 4, 5])
})

test('nothing is sent into a transaction of several round trips', async () => {
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
  const transaction = pipeline.exclusively(async () => {
    await client.query('begin')
    await add(1)
    expect(pipeline.mayFollow).toBe(false)
    await mayCommit
    await client.query('rollback')
  })
  expect(pipeline.mayFollow).toBe(false)
  commit()
  await transaction
  await add(2)
  expect(await stored()).toEqual([2])
})

test('transactions of several round trips come one after the other, and what follows them is in none', async () => {
  const transaction = (...numbers: number[]) =>
    pipeline.exclusively(async () => {
      await client.query('begin')
      try {
        for (const number of numbers) await client.query('insert into numbers values ($1)', [number])
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      }
    })
  const first = transaction(1, 2)
  const failing = failureOf(transaction(3, 3))
  const behind = pipeline.outside(() => add(4))
  await first
  expect(await failing).toContain('duplicate key')
  await behind
  expect(await stored()).toEqual([1, 2, 4])
})

test('one behind the other they come out in order, each with the bytes that it was made of', async () => {
  const thousands = Array.from({ length: 40 }, (_, batch) =>
    Array.from({ length: 1 + batch * 50 }, (_, n) => batch * 10_000 + n),
  )
  let [beforeLast, last]: Promise<unknown>[] = []
  for (const numbers of thousands) {
    await beforeLast
    beforeLast = last
    last = copy(numbers)
  }
  await Promise.all([beforeLast, last])
  expect(await stored()).toEqual(thousands.flat())
})
