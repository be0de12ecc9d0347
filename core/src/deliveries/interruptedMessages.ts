import type { Services } from '../api/services.ts'
import { encodeArray, INT8, type RowsOf, run, statement, type Trx, UUID } from '../platform/db/index.ts'
import { sealedColumns } from '../platform/secrets/index.ts'
import { findOriginals, hasOriginal, SHORT_BODY, storedRequest, withLongBodies } from '../requests/index.ts'
import { loadRuleSets, NO_RULE_SET, type RuleSet } from '../transformations/index.ts'
import { attemptOf, forwardAction, withOriginal } from './attemptOf.ts'
import { forwardColumns } from './dueAttempts.ts'
import { messageOf } from './send.ts'
import { recordable } from './withoutOriginal.ts'

/** The most bytes of requests that are read at once. One request is read whatever its size. */
const READ_BYTES = 16 * 1024 * 1024
/** Time after which no further message is computed, in milliseconds: rules may take long. */
const WORK_MS = 1000

const GIVEN = 'unnest($1::uuid[], $2::bigint[]) with ordinality as given (endpoint_id, id, place)'

/** Body bytes of the requests of attempts, or of their originals, in the order of the attempts; 0 if the request is gone. */
const READ_SIZES = statement(
  'sizes of begun attempts',
  `select greatest(octet_length(r.body), octet_length(o.original), 0) as bytes
    from ${GIVEN}
    left join delivery_attempts t on t.endpoint_id = given.endpoint_id and t.id = given.id
    left join requests r on r.endpoint_id = t.endpoint_id and r.id = t.request_id
    left join request_originals o on o.endpoint_id = t.endpoint_id and o.request_id = t.request_id
    order by given.place`,
)

/**
 * Forwards that have begun, with everything that they need. `has_changed` is set if the signing, the credentials or a
 * rule is newer than the attempt. Edited requests are left out: they exist only in the process that sends them.
 */
const SELECT_BEGUN = statement(
  'begun forwards',
  `select t.id, t.delivery_id, t.attempt_number as attempt, t.trigger, t.workspace_id, t.endpoint_id, t.request_id,
      t.action_id, t.action_name, t.at, ${forwardColumns('t.url')}, a.is_active, a.suspended_by_plan,
      e.name as endpoint_name, coalesce(e.capture_id, e.id) as capture_id, w.plan,
      greatest(a.signing_secret_set_at, a.auth_set_at, 'epoch') > t.at or exists (
        select from transformation_rules u where u.action_id = a.id and u.updated_at > t.at
      ) as has_changed,
      r.received_at, r.method, r.path, r.query_string, r.header_names, r.header_values, r.content_type,
      ${SHORT_BODY}, r.size_bytes, r.body_truncated, r.ip, r.label, r.event_id, r.verdict, r.verdict_note, r.redaction,
      ${sealedColumns('r')}
    from ${GIVEN}
    join delivery_attempts t on t.endpoint_id = given.endpoint_id and t.id = given.id
    join actions a on a.id = t.action_id
    join endpoints e on e.id = t.endpoint_id
    join workspaces w on w.id = t.workspace_id
    join requests r on r.endpoint_id = t.endpoint_id and r.id = t.request_id
    where t.kind = 'forward' and t.trigger <> 'edited'`,
)

interface AttemptKey {
  readonly endpointId: string
  readonly id: number
}

/**
 * Computes again what attempts of dead processes sent. A message depends only on the request, the action and its rules.
 *
 * @returns messages of the first attempts, as many as the limits of memory and time allow, and at least one. A message
 *   is null if it cannot be known: the action or the rules have changed since, something is gone, or nothing was to be
 *   sent
 */
export async function interruptedMessages(
  services: Services,
  trx: Trx,
  attempts: readonly AttemptKey[],
): Promise<readonly Awaited<ReturnType<typeof messageOfRow>>[]> {
  if (attempts.length === 0) return []
  const read = await firstOf(trx, attempts)
  const rows = await withLongBodies(trx, await run(trx, SELECT_BEGUN, parametersOf(read)))
  const byId = new Map(rows.map((row) => [row.id, row]))
  const ruleSets = await loadRuleSets(
    trx,
    rows.map(({ actionId }) => actionId),
  )
  const originals = await findOriginals(
    services,
    trx,
    rows.filter(({ redaction }) => hasOriginal(redaction)),
  )
  const endsAt = performance.now() + WORK_MS
  const messages = []
  for (const { id } of read) {
    if (messages.length > 0 && performance.now() > endsAt) break
    const row = byId.get(id)
    const rules = ruleSets.get(row?.actionId ?? '') ?? NO_RULE_SET
    const isKnown = row !== undefined && !row.hasChanged
    messages.push(isKnown ? await messageOfRow(services, row, { rules, originals }) : null)
  }
  return messages
}

/** The first attempts whose requests fit into {@link READ_BYTES}. */
async function firstOf(trx: Trx, attempts: readonly AttemptKey[]): Promise<readonly AttemptKey[]> {
  const sizes = await run(trx, READ_SIZES, parametersOf(attempts))
  let bytes = 0
  const tooMany = sizes.findIndex((size, index) => {
    bytes += size.bytes
    return index > 0 && bytes > READ_BYTES
  })
  return tooMany < 0 ? attempts : attempts.slice(0, tooMany)
}

function parametersOf(attempts: readonly AttemptKey[]): Buffer[] {
  return [
    encodeArray(UUID, attempts, ({ endpointId }) => endpointId),
    encodeArray(INT8, attempts, ({ id }) => id),
  ]
}

/** The message that an interrupted attempt sent, or was about to send, and the key that seals the request; null without. */
async function messageOfRow(
  services: Services,
  row: RowsOf<typeof SELECT_BEGUN>,
  { rules, originals }: { readonly rules: RuleSet; readonly originals: Parameters<typeof withOriginal>[2] },
) {
  try {
    const action = forwardAction(services.secrets, row, row.at)
    // The action was on when the attempt began, even if it is off now.
    const begun = { ...row, isActive: true, suspendedByPlan: false }
    const claim = { id: row.id, startedAt: row.at, action, rules }
    const attempt = withOriginal(attemptOf(services, begun, storedRequest(row), claim), row, originals)
    const message = await messageOf(services, attempt)
    if (message === null) return null
    const { sent } = recordable(attempt, { sent: message.sent, received: null })
    return sent && { ...message, sent, sealing: attempt.sealing }
  } catch (err) {
    services.log.error({ err, attemptId: row.id }, 'could not record the request of an interrupted attempt')
    return null
  }
}
