import type { Selectable } from 'kysely'
import type { z } from 'zod'
import type { ReconciliationsTable } from '../platform/db/index.ts'
import type { Reconciliation } from './schema.ts'
import { RUN_ERRORS, type RunErrorCode } from './senders/index.ts'

export type RunRow = Selectable<ReconciliationsTable>

/** Converts a row to the API's shape, without its sealed credentials. */
export function runView({ credentials: _sealed, ...row }: RunRow): z.input<typeof Reconciliation> {
  const { errorCode } = row
  return {
    ...row,
    types: JSON.parse(row.types),
    complete: row.isComplete,
    counts: {
      listed: row.listedCount,
      found: row.foundCount,
      missing: row.missingCount,
      tooOld: row.tooOldCount,
      redelivered: row.redeliveredCount,
      captured: row.capturedCount,
      refused: row.refusedCount,
      outstanding: row.outstandingCount,
    },
    missingTypes: JSON.parse(row.missingTypes),
    error:
      errorCode === null
        ? null
        : { code: isRunError(errorCode) ? errorCode : 'internal_error', detail: row.errorDetail ?? '' },
  }
}

const isRunError = (code: string): code is RunErrorCode => Object.hasOwn(RUN_ERRORS, code)
