import { beforeAll, expect, test } from 'bun:test'
import { chmod, lstat, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { runCreel, temporaryFolder } from '../support/process.ts'

/** Commands on a file of cells whose databases none of them reaches. */

let file: string
let link: string
let env: Record<string, string>

beforeAll(async () => {
  const folder = await temporaryFolder()
  file = join(folder, 'cells.json')
  link = join(folder, 'link.json')
  const cells = ['one', 'two'].map((name, at) => ({
    name,
    number: at + 1,
    databaseUrl: `postgres://127.0.0.1:9/${name}`,
    weight: 1,
  }))
  await Bun.write(file, JSON.stringify({ cells }))
  await symlink(file, link)
  env = { CREEL_CELLS_FILE: link, CREEL_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }
})

test.each(['doctor', 'jobs', 'upgrade-check'])(
  '%s is for one cell, which has to be named',
  async (command) => {
    const { exitCode, stderr } = await runCreel([command], { env })
    expect(stderr).toContain('There are 2 cells: name one with --cell <name>')
    expect(exitCode).toBe(2)
  },
)

test('a change of the file keeps who may read it, and a link to it', async () => {
  await chmod(file, 0o640)
  expect((await runCreel(['cells', 'drain', 'one'], { env })).exitCode).toBe(0)
  expect((await stat(file)).mode & 0o777).toBe(0o640)
  expect((await lstat(link)).isSymbolicLink()).toBeTrue()
  expect(await Bun.file(file).json()).toMatchObject({ cells: [{ weight: 0 }, { weight: 1 }] })
})

test('a file that the URL of a cell names and that cannot be read is a mistake of the configuration', async () => {
  const broken = join(await temporaryFolder(), 'cells.json')
  const databaseUrl = 'postgres://127.0.0.1:9/one?sslrootcert=/absent.pem'
  await Bun.write(broken, JSON.stringify({ cells: [{ name: 'one', number: 1, databaseUrl, weight: 1 }] }))
  const { exitCode, stderr } = await runCreel(['jobs'], { env: { ...env, CREEL_CELLS_FILE: broken } })
  expect(stderr).toContain('databaseUrl of cell one names a file in sslrootcert that cannot be read')
  expect(exitCode).toBe(2)
})

test.each([
  ['1', '1', 'was not changed: cells.2.number is that of another cell'],
  ['3', 'x', 'Give a number from 0 to 1000.'],
])(
  'a cell that does not fit the file is refused with a sentence: number %s, weight %s',
  async (number, weight, words) => {
    const before = await Bun.file(file).text()
    const three = ['three', '--url', 'postgres://127.0.0.1:9/three', '--number', number, '--weight', weight]
    const { exitCode, stderr } = await runCreel(['cells', 'add', ...three], { env })
    expect(stderr).toContain(words)
    expect(stderr).not.toContain('unexpected error')
    expect(exitCode).toBe(2)
    expect(await Bun.file(file).text()).toBe(before)
  },
)
