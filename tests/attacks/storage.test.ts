import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Db, openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { eventually } from '../support/eventually.ts'
import { type RunningProcess, startProcess, temporaryFolder } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

const MEBIBYTE = 1_048_576
/** Limit of each workspace, by its plan. */
const WORKSPACE_BYTES_MAX = 12 * MEBIBYTE
/** Factor for PostgreSQL's overhead and for captures between two sweeps. */
const ROOM = 1.25

let service: AttackedService
let jobs: RunningProcess
let receiver: Receiver
let attacked: string
let env: Readonly<Record<string, string>>
let db: Db
let close: () => Promise<void>

beforeAll(async () => {
  const plans = join(await temporaryFolder(), 'plans.json')
  await writeFile(plans, JSON.stringify({ team: { storedBytesMax: WORKSPACE_BYTES_MAX } }))
  env = { CREEL_PLANS_FILE: plans, CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }
  receiver = await startReceiver({ status: 200, body: randomBytes(200_000) })
  service = await startAttackedService({ env })
  attacked = service.attackedPath.split('/').at(-1) ?? ''
  const opened = openDatabase(service.database.url, 2)
  db = opened.db
  close = opened.close
  // More than half of the limit is used when the jobs start, so they check every second.
  await flood(service.attackedPath, 50)
  jobs = await startProcess({ database: service.database, env }, ['--only', 'jobs'])
})

afterAll(async () => {
  await jobs.stop()
  await close()
  await receiver[Symbol.asyncDispose]()
  await service.stop()
})

/** Two header fields of 75 KB each that no compression makes shorter. */
const longHead = (path: string) => {
  const fields = ['A', 'B'].map((name) => `X-${name}: ${randomBytes(56_000).toString('base64')}\r\n`).join('')
  return `POST ${path} HTTP/1.1\r\n${forwarded}${fields}Content-Length: 2\r\n\r\n{}`
}

/** Sends requests with 150 KB of header fields, ten on each connection; resolves when all are stored. */
async function flood(path: string, count: number): Promise<void> {
  const head = longHead(path)
  const connections = service.many(count / 10, head.repeat(10))
  await Promise.all(
    connections.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          let answers = ''
          socket.on('data', (chunk) => {
            answers += chunk.toString('latin1')
            if (answers.split('HTTP/1.1 200').length > 10) resolve()
          })
          socket.on('close', () => reject(new Error(`closed after ${answers}`)))
        }),
    ),
  )
}

/** Bytes on the disk of an endpoint's requests, and of the messages in its attempts. */
async function bytesOnDisk(endpointId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (
      (select coalesce(sum(pg_column_size(header_names) + pg_column_size(header_values) + pg_column_size(body)), 0)
        from requests where endpoint_id = ${endpointId})
      + (select coalesce(sum(pg_column_size(sent_headers) + coalesce(pg_column_size(received_body), 0)), 0)
        from attempt_details where endpoint_id = ${endpointId})
    )::bigint as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}

const isHeld = (bytesMax: number) =>
  eventually(
    `no more than ${bytesMax} bytes on the disk`,
    async () => (await bytesOnDisk(attacked)) < bytesMax,
  )

const storedByOthers = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from requests where endpoint_id <> ${attacked}`.execute(db)
  return rows[0]?.count ?? 0
}

describe('an innocent bystander notices nothing of', () => {
  test('heads of 150 KB: they count, so the limit of the workspace holds on the disk', () =>
    service.attackedBy(async () => {
      const before = await storedByOthers()
      await flood(service.attackedPath, 150)
      await isHeld(WORKSPACE_BYTES_MAX * ROOM)
      // The newest are stored, and nothing of other workspaces was evicted.
      expect(await bytesOnDisk(attacked)).toBeGreaterThan(WORKSPACE_BYTES_MAX / 2)
      expect(await storedByOthers()).toBeGreaterThanOrEqual(before)
    }))

  test('large answers to attempts: their records count', () =>
    service.attackedBy(async () => {
      const made = await fetch(`${service.creel.baseUrl}/api/v1/endpoints/${attacked}/actions`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${service.attackersKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ kind: 'forward', name: 'Large', url: receiver.url }),
      })
      expect(made.status).toBe(201)
      const call = `POST ${service.attackedPath} HTTP/1.1\r\n${forwarded}Content-Length: 2\r\n\r\n{}`
      for (const socket of service.many(10, call.repeat(10))) socket.resume()
      await receiver.take(100)
      await eventually('the end of all attempts', async () => {
        const { rows } = await sql<{ count: number }>`
          select count(*)::int as count from delivery_attempts where state <> 'Pending'`.execute(db)
        return (rows[0]?.count ?? 0) >= 100
      })
      await isHeld(WORKSPACE_BYTES_MAX * ROOM)
    }))
})
