import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase, run, statement } from '@creel/core'
import { ROWS_FILE, rowsText } from '../../scripts/rowTypes.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const ONE = { name: 'one', text: 'select 1 as n', isPrepared: false, isDescribed: true, notNull: [] }

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.drop()
})

test('the types of rows are those that PostgreSQL describes: else run `bun scripts/rowTypes.ts`', async () => {
  expect(await rowsText(database.url)).toBe(await Bun.file(ROWS_FILE).text())
})

describe('the type of a row', () => {
  const typeOf = async (text: string, notNull: readonly string[] = []) => {
    const file = await rowsText(database.url, [{ ...ONE, text, notNull }])
    return file.slice(file.indexOf("'one': ") + 7, -3).replaceAll(/\s+/g, ' ')
  }
  const of = (...columns: string[]) => `{ ${columns.map((column) => `readonly ${column} `).join('')}}`

  test.each([
    ['a column that is not null', 'select id from endpoints', of('id: string')],
    ['a column that may be null', 'select expires_at from endpoints', of('expiresAt: Date | null')],
    [
      'both parts of a union, of which one has a check',
      "select * from (select kind from actions union all select 'x') one",
      of('kind: string'),
    ],
    ['a column with a check', 'select kind from api_keys', of("kind: 'key' | 'oauth'")],
    ['no columns', 'select from endpoints', 'Record<never, never>'],
    ['no rows', 'delete from endpoints where id = $1', 'never'],
    ['returned columns', 'delete from endpoints returning id as gone', of('gone: string')],
    ['a count', 'select count(*) filter (where is_active) as live from endpoints', of('live: number')],
    ['a sum, which is null over no rows', 'select sum(size_bytes) from requests', of('sum: string | null')],
    [
      'a sum over the rows of a group',
      'select sum(size_bytes)::bigint from requests group by endpoint_id',
      of('sum: number'),
    ],
    ['a query without a row', 'select (select name from workspaces limit 1)', of('name: string | null')],
    ['a query with one row', 'select (select count(*) from workspaces)', of('count: number')],
    ['a parameter', "select $1::text as a, coalesce($1, '') as b", of('a: string | null', 'b: string')],
    [
      'both parts of a union',
      'select id, name from endpoints union all select id, null from workspaces',
      of('id: string', 'name: string | null'),
    ],
    [
      'columns of a recursive query',
      `with recursive chain as (
        select id from api_keys union all select k.id from chain c join api_keys k on k.replaced_by_id = c.id)
      select id from chain`,
      of('id: string'),
    ],
    [
      'one column of an outer join',
      'select e.id, a.condition from endpoints e left join actions a on a.endpoint_id = e.id',
      of('id: string', 'condition: string | null'),
    ],
    [
      'the columns of an outer join, which are null together',
      'select e.id, a.condition, length(a.name) as length, a.url from endpoints e left join actions a on a.endpoint_id = e.id',
      `${of('id: string')} & (${of('condition: string', 'length: number', 'url: string | null')} | ${of('condition: null', 'length: null', 'url: null')})`,
    ],
    [
      'an outer join inside of a query',
      'select condition from (select a.condition from endpoints e left join actions a on a.endpoint_id = e.id) one',
      of('condition: string | null'),
    ],
  ])('%s', async (_name, text, type) => {
    expect(await typeOf(text)).toBe(type)
  })

  test('is not null where the statement says so, unless PostgreSQL knows it or has no such column', async () => {
    expect(await typeOf('select expires_at from endpoints', ['expiresAt'])).toBe(of('expiresAt: Date'))
    await expect(typeOf('select id from endpoints', ['id'])).rejects.toThrow('PostgreSQL knows')
    await expect(typeOf('select id from endpoints', ['name'])).rejects.toThrow('no column name')
  })

  test('is refused if two statements have one name', async () => {
    await expect(rowsText(database.url, [ONE, ONE])).rejects.toThrow('Two statements are named "one"')
  })
})

test('a row with null in a column that the statement declares not null is an error', async () => {
  const { db, close } = openDatabase(database.url)
  const words = statement('test: words', 'select $1::text as word', { isDescribed: false, notNull: ['word'] })
  expect(await run(db, words, ['a'])).toEqual([{ word: 'a' }])
  await expect(run(db, words, [null])).rejects.toThrow('word of the statement "test: words" is null')
  const inTransaction = db.transaction().execute((trx) => run(trx, words, [null]))
  await expect(inTransaction).rejects.toThrow('word of the statement "test: words" is null')
  await close()
})
