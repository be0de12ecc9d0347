import type { Db } from '../platform/db/index.ts'
import { type AttemptRow, findDetail } from './read.ts'
import { attemptDetailView } from './view.ts'

/** The public view of an attempt with what was sent and received, as far as that is still kept. */
export async function attemptWithRecord(db: Db, endpointId: string, attempt: AttemptRow) {
  const detail = attempt.hasDetail ? await findDetail(db, endpointId, attempt.id) : undefined
  return attemptDetailView(attempt, detail, endpointId)
}
