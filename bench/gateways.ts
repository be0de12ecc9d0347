/**
 * `bun bench/gateways.ts [seconds]`: one gateway process against two on the same Postgres, 64 connections, 1 KB. On a machine with
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
const shared = await service.endpoint()
const own = await service.endpoint()
const at = (baseUrl: string, id: string, connections: number) =>
  load({ url: `${baseUrl}/hook/${id}`, connections, seconds, warmupSeconds: 1, body: BODY })
const both = async (secondId: string) => {
  const [left, right] = await Promise.all([
    at(service.baseUrl, shared.id, CONNECTIONS / 2),
    at(second.baseUrl, secondId, CONNECTIONS / 2),
  ])
  return left.perSecond + right.perSecond
}

const one = await at(service.baseUrl, shared.id, CONNECTIONS)
// The captures of an endpoint are numbered in order: each batch waits for the other gateway's to be durable.
const together = await both(shared.id)
const apart = await both(own.id)
await second.stop()

report({ group: 'gateways', name: 'captures/s through one gateway', value: one.perSecond, unit: '/s' })
report({ group: 'gateways', name: 'through two, an endpoint each', value: apart, unit: '/s' })
report({ group: 'gateways', name: 'through two, of one endpoint', value: together, unit: '/s' })
report({
  group: 'gateways',
  name: 'two against one, an endpoint each',
  value: apart / one.perSecond,
  unit: '×',
  goal: { atLeast: 1.4 },
})
report({
  group: 'gateways',
  name: 'two against one, of one endpoint',
  value: together / one.perSecond,
  unit: '×',
})
