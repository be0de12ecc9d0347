import { expect, test } from 'bun:test'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runCreel, startProcess, temporaryFolder } from '../support/process.ts'

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
