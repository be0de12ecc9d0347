import { describe, expect, test } from 'bun:test'
import { chmod, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { fencesRunBy } from '../docs/markdown.ts'
import { debianPostgresPrograms, startDebianPostgres } from '../faults/debianPostgres.ts'
import {
  preparedFolder,
  type RunningProcess,
  runCreel,
  startProcess,
  temporaryFolder,
} from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

/** The commands of the page, in order. */
const [dump = '', restore = '', pack = '', unpack = ''] = fencesRunBy(
  'tests/program/backup.test.ts',
  'docs/operations.md',
)

const programs = debianPostgresPrograms()
/** Receivers of a test are on this machine. */
const env = { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }

async function runShell(commands: string, cwd: string, environment: Record<string, string> = {}) {
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', commands], {
    cwd,
    env: { PATH: `${programs ?? ''}:${process.env.PATH}`, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  expect({ errors: await new Response(child.stderr).text(), exitCode: await child.exited }).toEqual({
    errors: '',
    exitCode: 0,
  })
}

/** Makes a capture after a first boot. */
async function withCapture(creel: RunningProcess) {
  const { key = '', captureUrl = '' } = creel.first ?? {}
  const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  expect((await fetch(captureUrl, { method: 'POST', body: 'before' })).status).toBe(200)
  const endpoints = '/api/v1/endpoints'
  return {
    /** Makes a capture that is encrypted at rest. Returns the path of the list that shows it. */
    addSealed: async () => {
      const body = JSON.stringify({ encryptBodies: true })
      const made = await fetch(creel.baseUrl + endpoints, { method: 'POST', headers, body })
      const sealed = z.object({ id: z.string(), url: z.string() }).parse(await made.json())
      expect((await fetch(sealed.url, { method: 'POST', body: 'sealed before' })).status).toBe(200)
      return `${endpoints}/${sealed.id}/requests`
    },
    get: async ({ baseUrl }: RunningProcess, path: string): Promise<unknown> =>
      await (await fetch(baseUrl + path, { headers })).json(),
    addAction: async (action: object) => {
      const path = `${creel.baseUrl}/api/v1/endpoints/${id}/actions`
      const made = await fetch(path, { method: 'POST', headers, body: JSON.stringify(action) })
      expect(made.status).toBe(201)
    },
    /** Checks the restored service: the old key works, the capture is there, the next one gets the next id. */
    expectRestored: async (restored: RunningProcess, nextId: number) => {
      expect(restored.first).toBeUndefined()
      const url = `${restored.captureUrl}/hook/${id}`
      expect((await fetch(url, { method: 'POST', body: 'after' })).status).toBe(200)
      const list = await fetch(`${restored.baseUrl}/api/v1/endpoints/${id}/requests`, { headers })
      expect(await list.json()).toMatchObject({
        totalCount: 2,
        items: [
          { id: nextId, bodyPreview: 'after' },
          { id: 1, bodyPreview: 'before' },
        ],
      })
    },
  }
}

describe('a backup taken and restored as docs/operations.md says', () => {
  test('of a data folder: what was captured is there, and goes on', async () => {
    const cwd = await preparedFolder()
    const creel = await startProcess({ cwd })
    const captured = await withCapture(creel)
    expect(await creel.stop()).toBe(0)
    await runShell(pack, cwd)
    await rm(join(cwd, '.creel'), { recursive: true })
    await runShell(unpack, cwd)

    if (process.getuid?.() === 0) {
      // The database's account is not root, and must pass through the folders above it.
      await chmod(cwd, 0o700)
      const refused = await runCreel(['serve'], { cwd })
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toContain('set CREEL_DATA_DIR to it')
      await chmod(cwd, 0o711)
    }
    const restored = await startProcess({ cwd })
    await captured.expectRestored(restored, 2)
    expect(await restored.stop()).toBe(0)
  })

  test.if(programs !== undefined)(
    'of a PostgreSQL, while it is in use: requests, keys and sealed secrets are there, and it goes on',
    async () => {
      const postgres = await startDebianPostgres(programs ?? '')
      const urlOf = (name: string) =>
        `postgresql://creel@${encodeURIComponent(dirname(postgres.socket))}:5432/${name}`
      await using receiver = await startReceiver()
      const creel = await startProcess({ database: { url: urlOf('postgres') }, env })
      const captured = await withCapture(creel)
      await captured.addAction({ kind: 'forward', url: receiver.url, signingSecret: 'a-long-shared-secret' })

      const listOfSealed = await captured.addSealed()

      const cwd = await temporaryFolder()
      await runShell(dump, cwd, { DATABASE_URL: urlOf('postgres') })
      expect(await creel.stop()).toBe(0)
      const restoredUrl = urlOf('restored')
      await runShell(`createdb --maintenance-db="$DATABASE_URL" restored`, cwd, {
        DATABASE_URL: urlOf('postgres'),
      })
      await runShell(restore, cwd, { DATABASE_URL: restoredUrl })

      const database = { url: restoredUrl }
      expect(JSON.parse((await runCreel(['migrate', '--json'], { database })).stdout)).toEqual({
        applied: [],
      })
      const restored = await startProcess({ database, env })
      await captured.expectRestored(restored, 3)
      expect(await captured.get(restored, listOfSealed)).toMatchObject({
        items: [{ bodyPreview: 'sealed before', sealed: true, shredded: false }],
      })
      const [forward] = await receiver.take(1)
      expect(forward?.body.toString()).toBe('after')
      expect(forward?.header('creel-signature')).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
      expect(await restored.stop()).toBe(0)
      await postgres.kill()
    },
  )
})
