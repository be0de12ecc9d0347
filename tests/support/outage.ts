import { adminUrl, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import type { TestService } from './service.ts'
import { administer } from './templateDatabase.ts'

/** Runs `during` while a database refuses connections. */
export async function whileRefused(database: TestDatabase, during: () => Promise<void>): Promise<void> {
  const name = /\btest_\w+/.exec(database.url)?.[0]
  if (name === undefined) throw new Error(`${database.url} is no test database.`)
  await administer(
    adminUrl(),
    `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
  try {
    await during()
  } finally {
    await administer(adminUrl(), `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  }
}

/**
 * Runs `during` while a database takes no writes. The sessions that are opened meanwhile stay read-only, as those with a
 * former primary.
 */
export async function whileReadOnly(database: TestDatabase, during: () => Promise<void>): Promise<void> {
  const name = /\btest_\w+/.exec(database.url)?.[0]
  if (name === undefined) throw new Error(`${database.url} is no test database.`)
  await administer(
    adminUrl(),
    `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
  try {
    await during()
  } finally {
    await administer(adminUrl(), `ALTER DATABASE ${name} RESET default_transaction_read_only`)
  }
}

/** Runs `during` while the service's database is unreachable, and waits until the service is connected again. */
export async function whileDatabaseIsAway(service: TestService, during: () => Promise<void>): Promise<void> {
  try {
    await whileRefused(service.database, during)
  } finally {
    await eventually('the service, ready again', async () => (await fetch(`${service.baseUrl}/readyz`)).ok)
  }
}
