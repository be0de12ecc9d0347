import { expect, test } from 'bun:test'
import { settingChecks } from './databaseChecks.ts'

const GOOD = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'remote_write',
  autovacuum: 'on',
  max_wal_size: String(2 * 1024 ** 3),
  min_wal_size: String(512 * 1024 ** 2),
  shared_buffers: String(128 * 1024 ** 2),
  max_connections: '100',
}

test('good settings need no change', () => {
  const checks = settingChecks(GOOD, false)
  expect(checks.filter(({ level }) => level !== 'ok')).toEqual([])
  expect(checks.map(({ found }) => found)).toContain('512MB')
})

test.each([
  ['fsync', 'off', 'failure'],
  ['full_page_writes', 'off', 'failure'],
  ['synchronous_commit', 'off', 'failure'],
  ['autovacuum', 'off', 'failure'],
  ['max_wal_size', String(64 * 1024 ** 2), 'warning'],
  ['min_wal_size', String(80 * 1024 ** 2), 'warning'],
  ['shared_buffers', String(16 * 1024 ** 2), 'warning'],
  ['max_connections', '20', 'warning'],
] as const)('%s of %s is a %s, with the change', (setting, value, level) => {
  const wrong = settingChecks({ ...GOOD, [setting]: value }, false).filter((one) => one.level !== 'ok')
  expect(wrong).toMatchObject([{ name: `PostgreSQL ${setting}`, level }])
  expect(wrong[0]?.change).toContain(`Set ${setting} to`)
})

test('speed of the embedded PostgreSQL is not the concern of its user, durability is', () => {
  expect(settingChecks({ ...GOOD, min_wal_size: '1' }, true).map(({ level }) => level)).not.toContain(
    'warning',
  )
  expect(settingChecks({ ...GOOD, fsync: 'off' }, true).map(({ level }) => level)).toContain('failure')
})
