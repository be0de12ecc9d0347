import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { debianPostgresPrograms, startDebianPostgres } from '../faults/debianPostgres.ts'
import { runCreel, startProcess } from '../support/process.ts'

const programs = debianPostgresPrograms()

describe('DATABASE_URL', () => {
  test.if(programs !== undefined)(
    'may be Debian’s PostgreSQL 15: first boot, capture, list, commands, and no embedded one',
    async () => {
      const postgres = await startDebianPostgres(programs ?? '')
      const url = `postgresql://creel@${encodeURIComponent(dirname(postgres.socket))}:5432/postgres`
      const database = { url }
      const creel = await startProcess({ database })
      const { key = '', captureUrl = '' } = creel.first ?? {}
      expect((await fetch(captureUrl, { method: 'POST', body: '{"a":"Größe"}' })).status).toBe(200)
      const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
      const headers = { Authorization: `Bearer ${key}` }
      const list = await fetch(`${creel.baseUrl}/api/v1/endpoints/${id}/requests`, { headers })
      expect(await list.json()).toMatchObject({ totalCount: 1, items: [{ bodyPreview: '{"a":"Größe"}' }] })
      expect((await runCreel(['workspace', 'list', '--json'], { database })).stdout).toContain('"default"')
      expect(await creel.stop()).toBe(0)
      await postgres.kill()
    },
  )
})
