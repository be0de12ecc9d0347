/**
 * `bun bench/soak.ts [minutes]`: memory of the whole service under steady traffic; captures are forwarded and listed
 * all the time. Growth is the slope between the second and the last fifth of the run; the first fifth is the warm-up.
 *
 * `bun bench/soak.ts network [seconds] [seed]`: the property test of `tests/network` for an hour, or this many seconds.
 */
import { createServer } from 'node:http'
import { residentMegabytes } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { soakNetwork } from './support/networkSoak.ts'
import { report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

if (process.argv[2] === 'network') {
  const [, , , seconds = 3600, seed = Math.floor(Math.random() * 2 ** 32)] = process.argv
  process.exit((await soakNetwork(Number(seconds), Number(seed))) ? 0 : 1)
}

const minutes = Number(process.argv[2] ?? 10)
const SLICES = 20
const BODY = JSON.stringify({ type: 'soak', data: 'x'.repeat(990) })

await using service = await startBenchService()
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end())
}).listen(0, '127.0.0.1')
const address = receiver.address()
const port = address !== null && typeof address === 'object' ? address.port : 0
const stored = await service.endpoint()
const forwarded = await service.endpoint({ forwardUrl: `http://127.0.0.1:${port}/` })

const samples: number[] = []
for (let slice = 0; slice < SLICES; slice += 1) {
  const seconds = (minutes * 60) / SLICES
  const until = performance.now() + seconds * 1000
  const captures = load({
    url: stored.url,
    connections: 8,
    seconds: seconds - 0.5,
    warmupSeconds: 0.5,
    body: BODY,
  })
  while (performance.now() < until) {
    await fetch(forwarded.url, { method: 'POST', body: BODY })
    await service.call('GET', `/api/v1/endpoints/${forwarded.id}/deliveries?pageSize=20`)
    await service.call('GET', `/api/v1/endpoints/${stored.id}/requests`)
  }
  await captures
  samples.push(await residentMegabytes(service.process.pid))
}
receiver.close()

const mean = (part: readonly number[]) => part.reduce((sum, sample) => sum + sample, 0) / part.length
const fifth = SLICES / 5
const early = mean(samples.slice(fifth, 2 * fifth))
const late = mean(samples.slice(-fifth))
report({
  group: 'soak',
  name: `resident memory in the last fifth of ${minutes} min`,
  value: late,
  unit: 'MB',
})
report({
  group: 'soak',
  name: 'last fifth against second fifth',
  value: late / early,
  unit: '×',
  goal: { atMost: 1.1 },
})
