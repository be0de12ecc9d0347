import { sql } from 'kysely'
import { raiseSingle } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { CaptureSettings } from './captureSettings.ts'

/** Shortest time between two alerts of an endpoint. */
const ALERT_SECONDS = 3600
/** The most endpoints whose last alert a process remembers. */
const REMEMBERED_MAX = 5_000

/** Times of the last alerts by endpoint, so that a process asks the database once an hour. */
const told = new Map<string, number>()

/**
 * Raises `redaction.failed` if a rule for storing faulted on captures that were stored as traces: at the first fault,
 * then at most once an hour for an endpoint, over all processes. Best effort: an error is logged, and the next fault
 * reports again.
 */
export async function tellOfRedactionFaults(
  services: Pick<Services, 'db' | 'clock' | 'enqueue' | 'log'>,
  settings: CaptureSettings,
  captures: readonly { readonly redactionFault: string | null }[],
): Promise<void> {
  const fault = captures.find(({ redactionFault }) => redactionFault !== null)?.redactionFault
  if (fault === undefined || fault === null) return
  const { endpointId, endpointName, workspaceId } = settings
  const now = services.clock.now()
  if (now.getTime() - (told.get(endpointId) ?? Number.NEGATIVE_INFINITY) < ALERT_SECONDS * 1000) return
  if (told.size >= REMEMBERED_MAX) told.clear()
  told.set(endpointId, now.getTime())
  try {
    await services.db.transaction().execute(async (trx) => {
      // One process at a time: the others then find its alert.
      const lock = `redaction.failed ${endpointId}`
      await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
      const earlier = await trx
        .selectFrom('alerts')
        .where('endpointId', '=', endpointId)
        .where('eventKind', '=', 'redaction.failed')
        .where('occurredAt', '>', new Date(now.getTime() - ALERT_SECONDS * 1000))
        .select('id')
        .limit(1)
        .executeTakeFirst()
      if (earlier !== undefined) return
      const endpoint = { id: endpointId, name: endpointName }
      await raiseSingle(services, trx, {
        kind: 'redaction.failed',
        workspaceId,
        subject: endpoint,
        endpoint,
        requestId: null,
        reason: fault,
      })
    })
  } catch (err) {
    told.delete(endpointId)
    services.log.warn({ err, endpointId }, 'a fault of a rule for storing could not be reported')
  }
}
