import { closeIncidents, closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { findExpiry, lockExpiring } from './queries.ts'

/** Days before its expiry on which an alert about a certificate is raised. */
const BEFORE_DAYS = 14
/** The most actions of one transaction. */
const BATCH = 100

/** Certificates that expire before this time need an alert now. */
function expiringUntil(now: Date): Date {
  return new Date(now.getTime() + BEFORE_DAYS * DAY_MS)
}

/**
 * Opens an incident for each action whose certificates expire within 14 days, once. It is closed when they are
 * replaced. Several processes may call it at the same time.
 */
export async function checkCertificates(
  services: Pick<Services, 'db' | 'clock' | 'enqueue'>,
  signal: AbortSignal,
): Promise<void> {
  const until = expiringUntil(services.clock.now())
  while (!signal.aborted) {
    const looked = await services.db.transaction().execute(async (trx) => {
      const rows = await lockExpiring(trx, until, BATCH)
      for (const { id, name, workspaceId, endpointId, endpointName, expiresAt } of rows)
        await openIncident(services, trx, {
          kind: 'certificate.expiring',
          workspaceId,
          subject: { id, name },
          endpoint: { id: endpointId, name: endpointName },
          requestId: null,
          reason: `A certificate of this action expires on ${expiresAt}.`,
        })
      return rows.length
    })
    if (looked < BATCH) return
  }
}

/**
 * Closes the incident of an action whose new TLS settings last long enough. Without settings it is closed without an
 * alert.
 */
export async function tellOfCertificates(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  actionId: string,
): Promise<void> {
  const expiresAt = await findExpiry(trx, actionId)
  if (expiresAt === null) await closeIncidentsSilently(services, trx, 'certificate.expiring', [actionId])
  else if (new Date(expiresAt) > expiringUntil(services.clock.now()))
    await closeIncidents(services, trx, {
      kind: 'certificate.expiring',
      subjectIds: [actionId],
      reason: `The certificate is valid until ${expiresAt}.`,
    })
}
