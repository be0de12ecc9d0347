import { closeIncidents, closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'

/** Days before its expiry on which an alert about a certificate is raised. */
const BEFORE_DAYS = 14
/** The most actions of one transaction. */
const BATCH = 100

/**
 * The expiry in the column of certificates. Not read as JSON: the PEM may contain text around the certificates that
 * PostgreSQL's JSON cannot hold, and one such row would fail the check for all workspaces. The pattern is safe because
 * quotes within values are escaped.
 */
const EXPIRES_AT = `substring(tls_certificates from '"expiresAt":"([^"]*)"')`

/**
 * Locks forwards in use whose certificates expire before `$1` and that have no open incident, `$2` at most. Skips rows
 * that are locked.
 */
const LOCK_EXPIRING = statement(
  'lock expiring certificates',
  `select a.id, a.name, a.workspace_id, a.endpoint_id, e.name as endpoint_name,
    ${EXPIRES_AT} as expires_at
  from actions a join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
  where a.tls_certificates is not null and a.is_active and not a.suspended_by_plan
    and ${EXPIRES_AT}::timestamptz <= $1
    and not exists (
      select from incidents i
      where i.kind = 'certificate.expiring' and i.subject_id = a.id and i.closed_at is null)
  order by a.id limit $2
  for no key update of a skip locked`,
  { isPrepared: false, notNull: ['expiresAt'] },
)

const FIND_EXPIRY = statement(
  'find expiry of certificates',
  `select ${EXPIRES_AT} as expires_at from actions where id = $1`,
  { isPrepared: false },
)

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
      const rows = await run(trx, LOCK_EXPIRING, [until, BATCH])
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
  const [row] = await run(trx, FIND_EXPIRY, [actionId])
  const expiresAt = row?.expiresAt ?? null
  if (expiresAt === null) await closeIncidentsSilently(services, trx, 'certificate.expiring', [actionId])
  else if (new Date(expiresAt) > expiringUntil(services.clock.now()))
    await closeIncidents(services, trx, {
      kind: 'certificate.expiring',
      subjectIds: [actionId],
      reason: `The certificate is valid until ${expiresAt}.`,
    })
}
