import { expect, test } from 'bun:test'
import { TABLES_FILE, tablesText } from '../../scripts/dbTypes.ts'
import { createTestDatabase } from '../support/database.ts'

test('the types of the tables are those that the migrations make: else run `bun scripts/dbTypes.ts`', async () => {
  const database = await createTestDatabase()
  expect(await tablesText(database.url)).toBe(await Bun.file(TABLES_FILE).text())
  await database.drop()
})
