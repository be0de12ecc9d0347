import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, QUEUES } from '@creel/core'
import { serverOf } from '@creel/core/platform/db'
import { createBoss, createQueues } from '@creel/jobs'
import { migrate } from '@creel/migrations'
import { Client } from 'pg'
import { pino } from 'pino'

const ROOT = join(import.meta.dir, '../..')
/** Sources of a migrated database, with queues and schedules. */
const SOURCES = ['migrations/src', 'jobs/src', 'core/src', 'bun.lock']
/** Advisory lock of all runs that make a template. */
const LOCK = 4_400_001

/** The URL of another database of the same server. */
export function urlOfDatabase(url: string, database: string): string {
  const end = url.indexOf('?')
  const address = end === -1 ? url : url.slice(0, end)
  return address.slice(0, address.lastIndexOf('/') + 1) + database + (end === -1 ? '' : url.slice(end))
}

/** Runs statements that cannot be in a transaction, e.g. CREATE DATABASE. */
export async function administer(adminUrl: string, ...statements: string[]): Promise<void> {
  await withClient(adminUrl, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}

/** The databases that tests have made and not dropped. */
export function databasesOfTests(adminUrl: string): Promise<readonly string[]> {
  return withClient(adminUrl, (client) => databasesLike(client, 'test\\_%'))
}

/**
 * Makes the template, migrated and empty, unless there is one of these sources. Every test file uses a clone of it,
 * which PostgreSQL makes by copying files (some 30 ms).
 *
 * @param adminUrl a database of a server for test databases
 * @returns its name
 */
export function makeTemplateDatabase(adminUrl: string): Promise<string> {
  const name = `creel_template_${fingerprint()}`
  return withClient(adminUrl, async (client) => {
    // Another run of the same checkout may be making it.
    await client.query('SELECT pg_advisory_lock($1)', [LOCK])
    if ((await databasesLike(client, name)).length > 0) return name
    // It gets its name when it is complete.
    const unfinished = `${name}_unfinished`
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${unfinished}`)
    await fill(urlOfDatabase(adminUrl, unfinished))
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`)
    return name
  })
}

async function fill(url: string): Promise<void> {
  const database = openDatabase(url, 1)
  try {
    await migrate(database.db)
  } finally {
    await database.close()
  }
  const boss = createBoss(url, { log: pino({ level: 'silent' }), works: false })
  await boss.start()
  await createQueues(boss)
  for (const { name, cron } of QUEUES) if (cron !== undefined) await boss.schedule(name, cron)
  await boss.stop({ graceful: false })
}

async function withClient<Result>(url: string, during: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(serverOf(url))
  // A connection that is lost while it is idle would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await during(client)
  } finally {
    await client.end()
  }
}

async function databasesLike(client: Client, pattern: string): Promise<readonly string[]> {
  const found = await client.query<{ datname: string }>(
    'SELECT datname FROM pg_database WHERE datname LIKE $1',
    [pattern],
  )
  return found.rows.map(({ datname }) => datname)
}

/** Digest of the names and contents of all sources. */
function fingerprint(): string {
  const hash = createHash('sha256')
  const add = (path: string): void => {
    if (statSync(join(ROOT, path)).isDirectory()) {
      for (const name of readdirSync(join(ROOT, path)).sort()) add(join(path, name))
    } else if (!path.startsWith('core/') || /queues?\w*\.ts$/i.test(path)) {
      hash.update(path).update(readFileSync(join(ROOT, path)))
    }
  }
  for (const source of SOURCES) add(source)
  return hash.digest('hex').slice(0, 16)
}
