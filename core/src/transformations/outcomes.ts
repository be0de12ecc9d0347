import { type Named, raiseSingle } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { opsTakingOut, storedRule } from '../engine/rules/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { ruleChange } from './auditedChange.ts'
import { forgetFaults, lockRule, noteFault, type RuleRow, updateRule } from './queries.ts'
import type { RuleEnd } from './ruleSets.ts'

/** Faults on this many distinct requests in a row disable a rule. */
const FAULTS_MAX = 5

/** Results of the rules of one attempt. */
export interface RuleOutcome {
  readonly workspaceId: string
  readonly endpoint: Named
  readonly requestId: number
  readonly ends: readonly RuleEnd[]
}

/**
 * Counts faults, and resets the count of rules that ran without one. At the fifth fault disables the rule and raises
 * `transformation.disabled`. The counts are stored in the database, so restarts and other workers share them.
 *
 * A disabled rule that removes data holds its action's deliveries from then on, until a user decides; any other is
 * skipped.
 */
export async function recordRuleOutcomes(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  outcomes: readonly RuleOutcome[],
): Promise<void> {
  const all = outcomes.flatMap((outcome) => outcome.ends.map((end) => ({ ...outcome, ...end })))
  const byRule = Map.groupBy(all, ({ rule }) => rule.id)
  const faulty: string[] = []
  const fine: string[] = []
  for (const [id, ends] of byRule) (ends.some(({ fault }) => fault !== null) ? faulty : fine).push(id)
  // Sorted, so that two workers never deadlock.
  await forgetFaults(trx, fine.sort())
  for (const id of faulty.sort()) {
    const row = await lockRule(trx, id)
    if (row === undefined) continue
    for (const end of byRule.get(id) ?? []) {
      if (end.fault === null) await forgetFaults(trx, [id])
      else if (
        end.fault.counted &&
        (await noteFault(trx, id, end.requestId, services.clock.now())) >= FAULTS_MAX
      ) {
        await switchOff(services, trx, row, { ...end, code: end.fault.code })
        break
      }
    }
  }
}

async function switchOff(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  row: RuleRow,
  { workspaceId, endpoint, requestId, code }: Omit<RuleOutcome, 'ends'> & { readonly code: string },
): Promise<void> {
  if (!row.enabled) return
  const ops = opsTakingOut(storedRule(row.rule))
  const cause = `Switched off by the service: it faulted on ${FAULTS_MAX} requests in a row, last with ${code}.`
  const disabledReason = `${cause} ${consequenceOf(ops)}`
  await updateRule(trx, row.id, {
    enabled: false,
    disabledReason,
    holdsDeliveries: ops.length > 0,
    updatedAt: services.clock.now(),
  })
  const changed = { ...row, enabled: false, disabledReason, holdsDeliveries: ops.length > 0 }
  await recordChange(trx, services, ruleChange('transformations.disable', row, changed))
  await raiseSingle(services, trx, {
    kind: 'transformation.disabled',
    workspaceId,
    subject: { id: row.id, name: row.name },
    endpoint,
    requestId,
    reason: disabledReason,
  })
}

/** Explains the effect on deliveries, and the next step. */
function consequenceOf(ops: readonly string[]): string {
  if (ops.length === 0) return 'Deliveries continue without it.'
  return `It has ${ops.join(', ')} steps, so deliveries of its action are held, unsent, until you enable, edit, delete or switch off this rule; enabled or edited, they are retried at once.`
}
