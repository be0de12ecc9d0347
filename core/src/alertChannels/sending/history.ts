import type { z } from 'zod'
import { isEventKind, severityOf } from '../../alerts/index.ts'
import { type AlertDelivery, OUTCOMES } from '../schema.ts'
import type { listHistory } from './queries.ts'

type HistoryRow = Awaited<ReturnType<typeof listHistory>>['rows'][number]

/** A row of the history in the API's format. @throws Error when this build does not know its kind or outcome */
export function historyView(row: HistoryRow): z.input<typeof AlertDelivery> {
  const outcome = OUTCOMES.find((known) => known === row.outcome)
  if (!isEventKind(row.eventKind) || outcome === undefined) {
    throw new Error(`The alert delivery ${row.id} cannot be read.`)
  }
  return { ...row, eventKind: row.eventKind, severity: severityOf(row.severity), outcome }
}
