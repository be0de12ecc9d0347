import { type Kysely, sql } from 'kysely'

const SEVERITIES = 'info warning error critical'
const CHANNELS = 'slack discord teams googlechat telegram pagerduty opsgenie ntfy webhook'
const OPENING = `delivery.parked delivery.failing delivery.held delivery.backlog breaker.opened watchdog.alarmed
  certificate.expiring answer.unavailable`
const OTHERS = `delivery.recovered delivery.working delivery.released delivery.drained breaker.closed watchdog.recovered
  certificate.renewed answer.available action.paused transformation.disabled capture.rejected redaction.failed
  reconcile.gap action.notify channel.test`

const WORDS = {
  action_flows: { breaker: 'closed open probing' },
  actions: { kind: 'forward notify', signing_scheme: 'creel standard-webhooks' },
  alert_channels: { health: 'untested verified failing', kind: CHANNELS },
  alert_deliveries: { channel_kind: `email ${CHANNELS}`, outcome: 'delivered failed muted suppressed' },
  alerts: { event_kind: `${OPENING} ${OTHERS}`, severity: SEVERITIES, status: 'open closed single' },
  endpoints: {
    signature_algorithm: 'sha1 sha256 sha512 rsa-sha256 rsa-sha512 ed25519',
    signature_encoding: 'hex base64 base64url',
  },
  incidents: { kind: OPENING, severity: SEVERITIES },
  watchdogs: { phase: 'waiting watching alarmed' },
}

/** Tables of which only new rows are checked: reading all would take long. */
const HISTORIES = ['alert_deliveries', 'alerts']

/**
 * Checks the words of columns. Tables to which every capture or attempt writes have none: a check costs each of their
 * statements some hundredths of a millisecond.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, columns] of Object.entries(WORDS))
    for (const [column, words] of Object.entries(columns)) {
      const list = sql.join(words.split(/\s+/).map((word) => sql.lit(word)))
      const past = HISTORIES.includes(table) ? sql`not valid` : sql``
      await sql`alter table ${sql.table(table)} add check (${sql.ref(column)} in (${list})) ${past}`.execute(
        db,
      )
    }
}
