import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { decodeConfig } from '../config/index.ts'
import { withoutRuntime } from '../embeddedPostgres/index.ts'
import { connectAsOwner } from './index.ts'

test('a build without PostgreSQL asks for DATABASE_URL, and makes no data folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'creel-test-'))
  try {
    const dataDir = join(folder, '.creel')
    const { config } = decodeConfig({ CREEL_DATA_DIR: dataDir })
    const connecting = connectAsOwner({ config, log: pino({ level: 'silent' }), runtime: withoutRuntime })
    expect(connecting).rejects.toThrow('has no PostgreSQL inside. Set DATABASE_URL')
    await connecting.catch(() => undefined)
    expect(existsSync(dataDir)).toBe(false)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
