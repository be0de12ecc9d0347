import { describe, expect, test } from 'bun:test'
import { hasPostgres15, startPostgres15 } from '../support/installedPostgres.ts'
import { runCreel, startProcess } from '../support/process.ts'

describe('DATABASE_URL', () => {
  test.if(hasPostgres15)(
    'may be a PostgreSQL 15: first boot, capture, list, commands, and no embedded one',
    async () => {
      const postgres = await startPostgres15()
      try {
        const creel = await startProcess({ database: postgres })
        const { key = '', captureUrl = '' } = creel.first ?? {}
        expect((await fetch(captureUrl, { method: 'POST', body: '{"a":1}' })).status).toBe(200)
        const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
        const headers = { Authorization: `Bearer ${key}` }
        const list = await fetch(`${creel.baseUrl}/api/v1/endpoints/${id}/requests`, { headers })
        expect(await list.json()).toMatchObject({ totalCount: 1, items: [{ bodyPreview: '{"a":1}' }] })
        expect((await runCreel(['workspace', 'list', '--json'], { database: postgres })).stdout).toContain(
          '"default"',
        )
        expect(await creel.stop()).toBe(0)
      } finally {
        await postgres.stop()
      }
    },
  )
})
