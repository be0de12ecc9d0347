import type { z } from 'zod'
import { Progress } from './progress.ts'
import type { ErasureRow } from './run.ts'
import type { Erasure } from './schema.ts'

/** Converts a row to the API's shape, without the value. */
export function erasureView(row: ErasureRow): z.input<typeof Erasure> {
  const { left, counts, endpoints, scannedRequests, scannedAttempts } = Progress.parse(
    JSON.parse(row.progress),
  )
  return {
    id: row.id,
    state: row.state,
    dryRun: row.dryRun,
    mode: row.mode,
    valueHash: row.valueHash,
    paths: JSON.parse(row.paths),
    counts,
    progress: { scannedRequests, scannedAttempts, partsLeft: left.length },
    endpoints: Object.entries(endpoints).map(([endpointId, requests]) => ({ endpointId, requests })),
    createdAt: row.createdAt,
    finishedAt: row.finishedAt,
  }
}
