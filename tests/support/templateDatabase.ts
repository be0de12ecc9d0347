import { openDatabase } from '@creel/core'
import { createBoss, createQueues } from '@creel/jobs'
import { migrate } from '@creel/migrations'
import { Client } from 'pg'
import { pino } from 'pino'

/** Migrated and empty; every test file works on a clone of it, which PostgreSQL makes by copying files (some 30 ms). */
export const TEMPLATE_DATABASE = 'creel_template'

/** The URL of another database of the same server. */
export function urlOfDatabase(url: string, database: string): string {
  const end = url.indexOf('?')
  const address = end === -1 ? url : url.slice(0, end)
  return address.slice(0, address.lastIndexOf('/') + 1) + database + (end === -1 ? '' : url.slice(end))
}

/** Runs statements that cannot be in a transaction, e.g. CREATE DATABASE. */
export async function administer(adminUrl: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/**
 * Makes the template for a run of the suite.
 *
 * @param adminUrl a database of a server that may be filled with test databases
 */
export async function makeTemplateDatabase(adminUrl: string): Promise<void> {
  await administer(
    adminUrl,
    `DROP DATABASE IF EXISTS ${TEMPLATE_DATABASE}`,
    `CREATE DATABASE ${TEMPLATE_DATABASE}`,
  )
  const url = urlOfDatabase(adminUrl, TEMPLATE_DATABASE)
  const database = openDatabase(url, 1)
  try {
    await migrate(database.db)
  } finally {
    await database.close()
  }
  const boss = createBoss(url, { log: pino({ level: 'silent' }), works: false })
  await boss.start()
  await createQueues(boss)
  await boss.stop({ graceful: false })
}
