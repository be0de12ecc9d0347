import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { fencesOf, textOf } from '../docs/markdown.ts'
import { atEnd } from '../support/atEnd.ts'
import { envOf } from '../support/cells.ts'
import { adminUrl } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { runCreel, startProcess, temporaryFolder } from '../support/process.ts'
import { administer, urlOfDatabase } from '../support/templateDatabase.ts'

const RUN_BY = 'run-by: tests/program/database.test.ts'

/** The statements of the page, with the names of this run. */
function grantsFor(name: string, role: string): string[] {
  const fence = fencesOf(textOf('docs/operations.md')).find(
    ({ language, remark }) => language === 'sql' && remark === RUN_BY,
  )
  return (fence?.code ?? '')
    .replaceAll(/^--.*$/gm, '')
    .replaceAll('creel_service', role)
    .replaceAll(/\bdatabase creel\b/g, `database ${name}`)
    .replaceAll('choose one', 'secret')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** Databases with exactly the documented grants, of one role. */
async function documentedDatabases(count = 1) {
  const role = newName()
  const admin = adminUrl()
  const names = Array.from({ length: count }, (_, at) => (at === 0 ? role : `${role}_${at}`))
  atEnd('databases', () =>
    administer(
      admin,
      ...names.map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      `DROP ROLE IF EXISTS ${role}`,
    ),
  )
  for (const [at, name] of names.entries()) {
    const grants = grantsFor(name, role)
    expect(grants).toHaveLength(5)
    await administer(admin, ...grants.slice(at === 0 ? 0 : 1, 4))
    await administer(urlOfDatabase(admin, name), ...grants.slice(4))
  }
  const urlOf = (name: string) => urlOfDatabase(admin, name).replace(/\/\/(?:[^@/]*@)?/, `//${role}:secret@`)
  return { admin, role, databases: names.map((name) => ({ name, url: urlOf(name) })) }
}

const newName = () => `test_${randomBytes(8).toString('hex')}`

describe('the database', () => {
  test('is served by a role with exactly the documented grants, and a connection that ends is opened again', async () => {
    const { admin, role, databases } = await documentedDatabases()
    const url = databases[0]?.url ?? ''
    // Settings of the role that would change how times are written and strings are read.
    await administer(
      admin,
      `alter role ${role} set datestyle = 'SQL, DMY'`,
      `alter role ${role} set standard_conforming_strings = off`,
    )
    const creel = await startProcess({
      database: { url },
      env: { CREEL_LOG_LEVEL: 'info', CREEL_DATABASE_CONNECTIONS: '5', CREEL_QUEUE_CONNECTIONS: '3' },
    })
    const captureUrl = creel.first?.captureUrl ?? ''
    const capture = async () => (await fetch(captureUrl, { method: 'POST', body: '{}' })).status
    expect(await capture()).toBe(200)
    await administer(
      admin,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${role}'`,
    )
    await eventually('captures again', async () => (await capture()) === 200)
    expect(await creel.stop()).toBe(0)
    expect(creel.stderr()).not.toMatch(/"stack"|\n\s+at /)
  })

  test('is refused with the grants that its role lacks', async () => {
    const { admin, role, databases } = await documentedDatabases()
    const url = databases[0]?.url ?? ''
    const [onDatabase, onSchema] = [`create on database ${role}`, 'create on schema public']
    await administer(
      urlOfDatabase(admin, role),
      `revoke ${onDatabase} from ${role}`,
      `revoke ${onSchema} from ${role}`,
    )
    const refusedFor = async (...words: readonly string[]) => {
      const { exitCode, stderr } = await runCreel(words, { database: { url } })
      expect(exitCode).toBe(1)
      expect(stderr).not.toMatch(/\n\s+at /)
      return stderr
    }
    const both = `run: grant ${onDatabase} to ${role}; grant ${onSchema} to ${role};`
    expect(await refusedFor('migrate')).toContain(both)
    expect(await refusedFor('serve')).toContain(both)
    await administer(urlOfDatabase(admin, role), `grant ${onSchema} to ${role}`)
    expect(await refusedFor('serve')).toContain(`run: grant ${onDatabase} to ${role};`)
  })

  test('moves a workspace by a role with exactly the documented grants, and names the one for moves if it lacks', async () => {
    const { admin, role, databases } = await documentedDatabases(2)
    const env = await envOf(databases)
    const target = databases.at(-1)?.name ?? ''
    const creel = (...words: readonly string[]) => runCreel(words, { env })
    expect((await creel('migrate', '--all')).exitCode).toBe(0)
    expect((await creel('workspace', 'create', '--name', 'tempo', '--cell', 'cell-1')).exitCode).toBe(0)
    await administer(admin, `revoke temporary on database ${target} from ${role}`)
    const refused = await creel('workspace', 'move', 'tempo', '--to', 'cell-2')
    expect(refused.stderr).toContain(`grant temporary on database ${target} to ${role};`)
    expect(refused.stderr).not.toMatch(/\n\s+at /)
    await administer(admin, ...grantsFor(target, role).slice(3, 4))
    const moved = await creel('workspace', 'move', 'tempo', '--to', 'cell-2')
    expect(moved.stdout).toContain('tempo: moved')
  })

  test('is refused with a sentence when it does not store UTF8', async () => {
    const name = newName()
    const admin = adminUrl()
    atEnd('databases', () => administer(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    await administer(
      admin,
      `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
    const refused = await runCreel(['serve'], { database: { url: urlOfDatabase(admin, name) } })
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('The encoding of the database is LATIN1; creel needs UTF8')
    expect(refused.stderr).not.toMatch(/\n\s+at /)
  })
})

describe('a command where there is no service and no data folder', () => {
  test.each([
    [['workspace', 'list']],
    [['key', 'create', '--workspace', 'default', '--name', 'x']],
    [['migrate']],
  ])('%p says so, and changes nothing', async (words) => {
    const cwd = await temporaryFolder()
    const { exitCode, stdout, stderr } = await runCreel(words, { cwd })
    expect(exitCode).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('No service and no data folder were found')
    expect(stderr).toContain('creel serve')
    expect(await readdir(cwd)).toEqual([])
  })
})
