import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerService, runningServices } from './serviceRegistry.ts'

test('an entry of another machine with the same home stays, and its service is none of this machine', async () => {
  const home = await mkdtemp(join(tmpdir(), 'creel-registry-'))
  await using service = Bun.serve({ port: 0, fetch: () => new Response('ok') })
  const [url, dataDir] = [service.url.origin, '/srv/creel']
  const folder = join(home, 'creel', 'services')
  await mkdir(folder, { recursive: true })
  // Both name files by the data folder, which is the same path on either machine.
  const file = join(folder, `${createHash('sha256').update(dataDir).digest('hex').slice(0, 24)}.json`)
  const theirs = { url, dataDir, pid: process.pid, startedAt: '2026-01-01T00:00:00Z', host: 'another.test' }
  await Bun.write(file, JSON.stringify(theirs))
  expect(await runningServices({ XDG_STATE_HOME: home })).toEqual([])
  await registerService({ XDG_STATE_HOME: home }, { url, dataDir })
  expect(await Bun.file(file).json()).toEqual(theirs)
  expect(await runningServices({ XDG_STATE_HOME: home })).toMatchObject([{ url, dataDir }])
  await rm(home, { recursive: true })
})
