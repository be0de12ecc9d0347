import type { Db } from '../platform/db/index.ts'
import { type AttemptRow, findDetail } from './read.ts'
import { attemptDetailView } from './view.ts'

/** The API's view of an attempt with its record. `sent` and `received` are null once the record was pruned. */
export async function attemptWithRecord(db: Db, endpointId: string, attempt: AttemptRow) {
  const detail = attempt.hasDetail ? await findDetail(db, endpointId, attempt.id) : undefined
  return attemptDetailView(attempt, detail, endpointId)
}
