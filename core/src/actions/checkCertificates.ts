import { closeIncidents, closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { findExpiry, lockExpiring } from './queries.ts'

/** An alert tells so long before a certificate ends. */
const BEFORE_DAYS = 14
/** Actions that one transaction looks at. */
const BATCH = 100

/** Until when certificates must last that need no alert now. */
function expiringUntil(now: Date): Date {
  return new Date(now.getTime() + BEFORE_DAYS * DAY_MS)
}

/**
 * Opens an incident for each action whose certificates end within 14 days, once: it is closed when they are replaced. Several
 * processes may call it at the same time.
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
          reason: `A certificate of it ends on ${expiresAt}.`,
        })
      return rows.length
    })
    if (looked < BATCH) return
  }
}

/** Closes the incident of an action whose TLS settings were just written, if they last again; in silence where none are left. */
export async function tellOfCertificates(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  actionId: string,
): Promise<void> {
  const incident = { kind: 'certificate.expiring', subjectIds: [actionId] } as const
  const expiresAt = await findExpiry(trx, actionId)
  if (expiresAt === null) await closeIncidentsSilently(services, trx, incident)
  else if (new Date(expiresAt) > expiringUntil(services.clock.now()))
    await closeIncidents(services, trx, { ...incident, reason: `It lasts until ${expiresAt}.` })
}
