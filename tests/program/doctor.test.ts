import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { runCreel, startProcess } from '../support/process.ts'

const Report = z.object({
  version: z.string(),
  checks: z.array(
    z.object({
      name: z.string(),
      level: z.enum(['ok', 'warning', 'failure']),
      found: z.string(),
      change: z.string().nullable(),
    }),
  ),
})

test('`creel doctor` finds settings that lose data, and whether the service answers under its address', async () => {
  const database = await createTestDatabase()
  const creel = await startProcess({ database })
  const examine = async (address: string, env: Record<string, string> = {}) => {
    const { stdout, stderr, exitCode } = await runCreel(['doctor', '--json'], {
      database,
      env: { CREEL_BASE_URL: address, ...env },
    })
    expect(stderr).toBe('')
    const { checks } = Report.parse(JSON.parse(stdout))
    return { exitCode, of: (name: string) => checks.find((one) => one.name === name) }
  }

  const running = await examine(creel.baseUrl)
  expect(running.of('CREEL_BASE_URL')).toMatchObject({ level: 'ok', found: creel.baseUrl })
  expect(running.of('retention')).toEqual({
    name: 'retention',
    level: 'ok',
    found: expect.stringMatching(/^captures are kept for \d+ days \(plan team\)$/),
    change: null,
  })
  expect(running.of('schema')).toMatchObject({ level: 'ok' })
  expect(running.of('secret key')).toMatchObject({ level: 'ok' })
  const foreign = await examine(creel.baseUrl, { CREEL_SECRET_KEY: Buffer.alloc(32, 8).toString('base64') })
  expect(foreign.of('secret key')).toMatchObject({
    level: 'failure',
    found: expect.stringContaining('is not the key that this database was set up with'),
  })
  expect(running.of('clock')).toMatchObject({ level: 'ok', found: expect.stringMatching(/^\d\.\d s/) })
  // The PostgreSQL of the tests gives up safety for speed.
  expect(running.of('PostgreSQL fsync')).toMatchObject({
    level: 'failure',
    found: expect.stringContaining('off: a crash'),
    change: 'Set fsync to on.',
  })
  expect(running.exitCode).toBe(1)

  const { stdout } = await runCreel(['doctor', '--json'], {
    database,
    env: { CREEL_DEFAULT_PLAN: 'self-hosted' },
  })
  expect(Report.parse(JSON.parse(stdout)).checks.find(({ name }) => name === 'retention')).toMatchObject({
    level: 'ok',
    found: 'Captures are kept for 100 years (plan self-hosted).',
    change: expect.stringContaining('CREEL_PLANS_FILE'),
  })

  expect(running.of('keys in backups')).toBeUndefined()
  const client = { Authorization: `Bearer ${creel.first?.key}`, 'Content-Type': 'application/json' }
  const sealing = await fetch(`${creel.baseUrl}/api/v1/endpoints`, {
    method: 'POST',
    headers: client,
    body: '{"encryptBodies":true}',
  })
  expect(sealing.status).toBe(201)
  expect((await examine(creel.baseUrl)).of('keys in backups')).toMatchObject({
    level: 'warning',
    change: expect.stringContaining("comment on schema creel_keys is 'dumped apart'"),
  })
  const { db, close } = openDatabase(database.url, 1)
  await sql`comment on schema creel_keys is 'dumped apart'`.execute(db)
  await close()
  expect((await examine(creel.baseUrl)).of('keys in backups')).toMatchObject({ level: 'ok' })

  await creel.stop()
  const stopped = await examine(creel.baseUrl)
  expect(stopped.of('CREEL_BASE_URL')).toMatchObject({
    level: 'failure',
    change: expect.stringContaining('Start'),
  })
  await database.drop()
})
