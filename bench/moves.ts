/**
 * `bun bench/moves.ts [--stored 17000,300000] [--per-second 500]`: moves workspaces between two cells while they capture,
 * and reports for how long each was sealed. Both databases are of one PostgreSQL server.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { beside, prepareCells } from './support/cells.ts'
import { creel, startCreel } from './support/creelProcess.ts'
import { fillCaptures } from './support/fill.ts'
import { paced } from './support/paced.ts'
import { readable, report } from './support/report.ts'
import { openBenchFolder, openWorkspace } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    stored: { type: 'string', default: '17000,300000' },
    'per-second': { type: 'string', default: '500' },
  },
})
const CELLS = ['cell-1', 'cell-2'] as const
const BODY_BYTES = 1024
const GOAL_MS = 1000
/** Captures go on for as long as any move takes. */
const SECONDS_MAX = 600
const perSecond = Number(values['per-second'])

await using folder = await openBenchFolder()
const single = await startCreel(folder.env)
const databaseUrl = (await findEmbeddedPostgres(folder.dataDir)) ?? ''
const env = await prepareCells(folder, databaseUrl, CELLS)
const program = await startCreel(env)
const source = new Client({ connectionString: beside(databaseUrl, CELLS[0]) })
await source.connect()

for (const stored of values.stored.split(',').map(Number)) {
  const workspace = await openWorkspace(program.baseUrl, { ...env, CREEL_CELL: CELLS[0] })
  const endpoints = await Promise.all([1, 2, 3, 4].map(() => workspace.endpoint()))
  const endpointIds = endpoints.map(({ id }) => id)
  await fillCaptures(source, { endpointIds, captures: stored, ageDays: 0, bodyBytes: BODY_BYTES })
  await source.query('analyze')
  let [sent, refused] = [0, 0]
  const ended = new Error('The move has ended.')
  let isOver = false
  const sending = paced({ perSecond, seconds: SECONDS_MAX }, async () => {
    if (isOver) throw ended
    sent += 1
    const { url = '' } = endpoints[sent % endpoints.length] ?? {}
    const response = await fetch(url, { method: 'POST', body: 'x'.repeat(BODY_BYTES) }).catch(() => null)
    if (response?.ok !== true) refused += 1
    await response?.text()
  }).catch((error: unknown) => {
    if (error !== ended) throw error
  })
  const moved = await creel(['workspace', 'move', workspace.id, '--to', CELLS[1]], env)
  isOver = true
  await sending
  const name = `a move of ${readable(stored)} captures, ${readable(perSecond)} more each second: seal`
  report({ group: 'moves', name, value: Number(moved.sealedMs), unit: 'ms', goal: { atMost: GOAL_MS } })
  report({ group: 'moves', name: `${name}, captures refused`, value: refused, unit: '' })
}
await source.end()
await program.stop()
await single.stop()
