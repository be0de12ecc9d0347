/**
 * `bun bench/boot.ts [starts]`: the time from the start of a process to its ready line, as `bun run start` has it: of the first start of
 * a checkout whose packages are installed, with a new data folder, and of later ones, whose bundle has been compiled. Then the memory
 * of an idle service, without PostgreSQL.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BUNDLES, compileBundle } from '../scripts/bundle.ts'
import { proportionalMegabytes, residentMegabytes, startCreel } from './support/creelProcess.ts'
import { percentile, report } from './support/report.ts'
import { openBenchFolder } from './support/workspace.ts'

const starts = Number(process.argv[2] ?? 5)
const IDLE_SECONDS = 15
const ROOT = join(import.meta.dir, '..')
const group = 'boot'

await using folder = await openBenchFolder()
await rm(join(ROOT, BUNDLES), { recursive: true, force: true })
const first = await startCreel(folder.env)
report({ group, name: 'first boot to ready', value: first.bootMs / 1000, unit: 's', goal: { atMost: 2.5 } })
await first.stop()
await compileBundle(ROOT)
const bootMs: number[] = []
for (let at = 0; at < starts; at += 1) {
  const service = await startCreel(folder.env)
  bootMs.push(service.bootMs)
  if (at === starts - 1) {
    const later = percentile(bootMs, 0.5) / 1000
    report({ group, name: 'later boot to ready', value: later, unit: 's', goal: { atMost: 0.7 } })
    await Bun.sleep(IDLE_SECONDS * 1000)
    const idle = await residentMegabytes(service.pid)
    const name = 'idle resident memory, without Postgres'
    report({ group, name, value: idle, unit: 'MB', goal: { atMost: 120 } })
    const share = await proportionalMegabytes(service.pid)
    const shareName = 'idle share in memory (PSS), without Postgres'
    report({ group, name: shareName, value: share, unit: 'MB', goal: { atMost: 95 } })
  }
  await service.stop()
}
