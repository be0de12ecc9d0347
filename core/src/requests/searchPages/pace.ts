import { sleep } from '../../platform/time/index.ts'

/** Pauses are so many times the processor time that the process has used, so that a run takes a quarter of a core. */
const REST = { times: 3, minMs: 2, maxMs: 500 } as const

/** Pauses for as long as the processor time since its last call demands. */
export type Pause = () => Promise<void>

export function pacer(): Pause {
  let before = process.cpuUsage()
  return async () => {
    const { user, system } = process.cpuUsage(before)
    await sleep(Math.min(REST.maxMs, Math.max(REST.minMs, ((user + system) / 1000) * REST.times)))
    before = process.cpuUsage()
  }
}
