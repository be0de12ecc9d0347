import { restFor } from '../../platform/time/index.ts'

/** Pauses are so many times as long as the work before them, so that a run takes a quarter of a core at most. */
const REST = { times: 3, minMs: 2, maxMs: 500 } as const

/** Pauses for as long as the work since its last call demands. */
export type Pause = () => Promise<void>

/** Paces work by the time that passes, which includes what PostgreSQL does meanwhile, and grows where others are at work. */
export function pacer(): Pause {
  let before = performance.now()
  return async () => {
    const workedMs = performance.now() - before
    await restFor(Math.min(REST.maxMs, Math.max(REST.minMs, workedMs * REST.times)))
    before = performance.now()
  }
}
