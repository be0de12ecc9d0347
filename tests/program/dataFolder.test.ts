import { expect, test } from 'bun:test'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { preparedFolder, runCreel, startProcess, temporaryFolder } from '../support/process.ts'

const isRoot = process.getuid?.() === 0
/** The system's account without rights. */
const account = { uid: 65_534, gid: 65_534 }

test.if(isRoot)(
  "root's commands reach a service whose data its own account can pass to in its own file system only",
  async () => {
    const outer = join(await temporaryFolder(), 'private')
    const dataDir = join(outer, 'creel')
    await mkdir(dataDir, { recursive: true })
    await chmod(outer, 0o755)
    await chown(dataDir, account.uid, account.gid)
    const env = { CREEL_DATA_DIR: dataDir }
    const creel = await startProcess({ env, account, cwd: '/' })
    // As systemd has it for a unit with DynamicUser: /var/lib/private is of root alone.
    await chmod(outer, 0o700)
    try {
      const listed = await runCreel(['workspace', 'list', '--json'], { env, cwd: '/' })
      expect(listed).toMatchObject({ exitCode: 0, stderr: '' })
      expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'default' }])
    } finally {
      await chmod(outer, 0o755)
      expect(await creel.stop()).toBe(0)
    }
  },
)

test('a command does not migrate the database under a service that runs', async () => {
  const cwd = await preparedFolder()
  const creel = await startProcess({ cwd })
  const client = new Client({ connectionString: await findEmbeddedPostgres(join(cwd, '.creel')) })
  await client.connect()
  const applied = async () =>
    Number((await client.query('select count(*) as count from kysely_migration')).rows[0]?.count)
  try {
    // As that of a service that is a migration older.
    await client.query('delete from kysely_migration where name = (select max(name) from kysely_migration)')
    const before = await applied()
    const listed = await runCreel(['workspace', 'list'], { cwd })
    expect(listed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(listed.stderr).toContain('Run `creel migrate` first')
    expect(await applied()).toBe(before)
  } finally {
    await client.end()
    await creel.stop()
  }
})
