/**
 * `bun bench/transfer.ts [requests]`: exports an endpoint's history and imports it with `creel requests`, as NDJSON
 * through a file. Measures the seconds with bodies of 1 KB, and the highest memory of service and command with ten
 * times as many bytes, and with a tenth of those.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BunFile } from 'bun'
import { report } from './support/report.ts'
import { type BenchEndpoint, startBenchService } from './support/workspace.ts'

const count = Number(process.argv[2] ?? 10_000)
const MAIN = join(import.meta.dir, '../creel/src/main.ts')
const FILL_LINES = 500
const group = 'transfer'

await using service = await startBenchService()

for (const { requests, kilobytes } of [
  { requests: count, kilobytes: 1 },
  { requests: count / 10, kilobytes: 10 },
  { requests: count, kilobytes: 10 },
]) {
  const source = await service.endpoint()
  await fill(source, requests, kilobytes)
  const target = await service.endpoint()
  // A new file each time: a shorter text would leave the rest of a longer one.
  const file = join(service.folder.dataDir, `${source.id}.ndjson`)
  const what = `${requests.toLocaleString('en')} requests of ${kilobytes} KB`
  for (const [verb, words] of [
    ['export', ['export', '-e', source.id]],
    ['import', ['import', file, '-e', target.id]],
  ] as const) {
    const { seconds, serviceMegabytes, commandMegabytes } = await measured(
      words,
      verb === 'export' ? Bun.file(file) : 'ignore',
    )
    const name = `${verb} of ${what}`
    if (kilobytes === 1) report({ group, name, value: seconds, unit: 's', goal: { atMost: 20 } })
    report({ group, name: `${name}: highest memory of the service`, value: serviceMegabytes, unit: 'MB' })
    report({ group, name: `${name}: highest memory of the command`, value: commandMegabytes, unit: 'MB' })
  }
}

async function fill({ id }: BenchEndpoint, requests: number, kilobytes: number): Promise<void> {
  const line = {
    receivedAt: new Date(),
    method: 'POST',
    path: '/a',
    rawHeaders: [{ name: 'Content-Type', value: 'application/json' }],
    body: JSON.stringify({ type: 'bench', data: 'x'.repeat(kilobytes * 1000) }),
  }
  for (let filled = 0; filled < requests; filled += FILL_LINES) {
    const answer = await fetch(`${service.baseUrl}/api/v1/endpoints/${id}/requests/import`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/x-ndjson' },
      body: `${JSON.stringify(line)}\n`.repeat(Math.min(FILL_LINES, requests - filled)),
    })
    if (!answer.ok) throw new Error(`The endpoint could not be filled: ${await answer.text()}`)
  }
}

/** Runs one command and records its duration, and the highest resident memory of both sides. */
async function measured(words: readonly string[], stdout: BunFile | 'ignore') {
  const { pid } = service.process
  // Resets the peak.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, MAIN, 'requests', ...words], {
    env: { HOME: service.folder.dataDir, CREEL_URL: service.baseUrl, CREEL_KEY: service.key },
    stdio: ['ignore', stdout, 'inherit'],
  })
  if ((await child.exited) !== 0) throw new Error(`creel requests ${words.join(' ')} failed.`)
  return {
    seconds: (performance.now() - startedAt) / 1000,
    serviceMegabytes: highestMegabytes(pid),
    commandMegabytes: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 2 ** 20,
  }
}

/** The highest resident memory of a process since that was last reset. */
function highestMegabytes(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
