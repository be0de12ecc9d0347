import { type DeliveryPolicy, GONE, scheduleOf } from '../deliveries/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { DAY_MS } from '../platform/time/index.ts'

/**
 * Contradictions in a delivery policy that its schema cannot express.
 *
 * @param keptMs retention of requests under the plan: no attempt is made after that
 */
export function deliveryIssues(policy: DeliveryPolicy, keptMs: number): InputIssue[] {
  return [...delayIssues(policy, keptMs), ...statusIssues(policy)]
}

/** One issue for the first delay that leads past the retention of a request. */
function delayIssues(policy: DeliveryPolicy, keptMs: number): InputIssue[] {
  let passedMs = 0
  for (const [at, seconds] of scheduleOf(policy, []).delaysSeconds.entries()) {
    passedMs += seconds * 1000
    if (passedMs < keptMs) continue
    const days = keptMs / DAY_MS
    const detail = `The delays together must be shorter than the retention of the plan: ${days} days.`
    return [{ path: ['delivery', 'retry', 'delays', at], code: 'out_of_range', detail }]
  }
  return []
}

function statusIssues({ retry }: DeliveryPolicy): InputIssue[] {
  return (retry?.on ?? []).flatMap((status, at): InputIssue[] =>
    status === GONE
      ? [
          {
            path: ['delivery', 'retry', 'on', at],
            code: 'not_allowed',
            detail:
              '410 always ends a delivery and cannot be retried. Set `delivery.gone` to pause the action as well.',
          },
        ]
      : [],
  )
}
