/**
 * `bun bench/scale.ts [seconds]`: one gateway process against two on the same Postgres, 64 connections, 1 KB. On a machine with
 * two cores the load, the gateways and Postgres share them: more gateways add room only where cores are free.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres } from '@creel/program'
import { startCreel } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const seconds = Number(process.argv[2] ?? 5)
const BODY = JSON.stringify({ type: 'scale', data: 'x'.repeat(990) })
const CONNECTIONS = 64

await using service = await startBenchService()
const dataDir = service.env.CREEL_DATA_DIR ?? ''
const second = await startCreel(
  {
    ...service.env,
    DATABASE_URL: (await findEmbeddedPostgres(dataDir)) ?? '',
    CREEL_SECRET_KEY: (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim(),
  },
  ['--only', 'gateway'],
)
const { id } = await service.endpoint()
const at = (baseUrl: string, connections: number) =>
  load({ url: `${baseUrl}/hook/${id}`, connections, seconds, warmupSeconds: 1, body: BODY })

const one = await at(service.baseUrl, CONNECTIONS)
const two = await Promise.all(
  [service.baseUrl, second.baseUrl].map((baseUrl) => at(baseUrl, CONNECTIONS / 2)),
)
const both = two.reduce((sum, { perSecond }) => sum + perSecond, 0)
await second.stop()

report({ group: 'scale', name: 'captures/s through one gateway', value: one.perSecond, unit: '/s' })
report({ group: 'scale', name: 'captures/s through two gateways', value: both, unit: '/s' })
report({ group: 'scale', name: 'two against one', value: both / one.perSecond, unit: '×' })
