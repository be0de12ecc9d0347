import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { STATE_WORDS } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { attemptsQuery } from '../queries.ts'
import { type Attempt, creel, type RequestDetail, type RequestSummary } from '../trpc.ts'
import { ago, withoutScheme } from '../words/format.ts'
import { problemOf } from '../words/problem.ts'
import { visible } from '../words/visible.ts'
import { AttemptItem } from './AttemptItem.tsx'

interface Props {
  readonly endpointId: string
  readonly request: RequestDetail
  readonly row: RequestSummary | undefined
}

/** Every attempt of every action, newest first within each, with its exact request and response. */
export function RequestDeliveries({ endpointId, request, row }: Props) {
  const attempts = useQuery(attemptsQuery(endpointId, request.id, row ?? request))
  const [open, setOpen] = useState<number | null>(null)
  const items = attempts.data?.items ?? []
  if (attempts.error !== null) {
    return (
      <div className="pad">
        <Problem error={attempts.error} onRetry={() => void attempts.refetch()} />
      </div>
    )
  }
  if (request.deliveries.length === 0 && attempts.data?.items.length === 0) {
    return (
      <p className="hint pad">
        {request.state === 'Skipped'
          ? 'No condition of an action matched this request.'
          : 'No action was switched on when this request arrived.'}
      </p>
    )
  }
  const byAction = Map.groupBy(items, actionOf)
  const longest = Math.max(1, ...items.map(({ durationMs }) => durationMs ?? 0))
  return (
    <div className="deliveries">
      {[...byAction].map(([action, ofAction]) => {
        const delivery = request.deliveries.find((one) => actionOf(one) === action)
        const name = visible(delivery?.actionName ?? ofAction[0]?.actionName ?? '')
        return (
          <section key={action} aria-label={name}>
            <h3>
              {name} <span className="hint">{withoutScheme(ofAction[0]?.url ?? '')}</span>
            </h3>
            {delivery?.nextAttemptAt != null && (
              <NextAttempt
                key={delivery.nextAttemptAt}
                endpointId={endpointId}
                at={delivery.nextAttemptAt}
                attempts={ofAction}
              />
            )}
            <ol className="attempts">
              {ofAction.map((attempt) => (
                <AttemptItem
                  key={attempt.id}
                  endpointId={endpointId}
                  attempt={attempt}
                  share={(attempt.durationMs ?? 0) / longest}
                  isOpen={open === attempt.id}
                  onToggle={() => setOpen(open === attempt.id ? null : attempt.id)}
                />
              ))}
            </ol>
          </section>
        )
      })}
      {request.deliveries
        .filter((delivery) => !byAction.has(actionOf(delivery)))
        .map((delivery) => (
          <section key={actionOf(delivery)} aria-label={visible(delivery.actionName)}>
            <h3>{visible(delivery.actionName)}</h3>
            <p className="next">{delivery.state === 'Pending' ? 'Waiting for a worker' : delivery.state}</p>
          </section>
        ))}
    </div>
  )
}

/** Actions may share a name; one that was deleted has only its name. */
const actionOf = ({ actionId, actionName }: Pick<Attempt, 'actionId' | 'actionName'>): string =>
  actionId ?? actionName

interface NextProps {
  readonly endpointId: string
  readonly at: string
  /** Newest first. */
  readonly attempts: readonly Attempt[]
}

function NextAttempt({ endpointId, at, attempts }: NextProps) {
  // Replays are outside the schedule. The next attempt follows from the newest attempt that announced one.
  const last = attempts.find(({ nextAttemptAt }) => nextAttemptAt !== null)
  const hurry = useCall(
    (attemptId: number) => creel.deliveries.retryNow.mutate({ endpointId, attemptId }),
    [
      ['attempts', endpointId],
      ['request', endpointId],
    ],
  )
  return (
    <div className="next acts">
      <span>
        {last === undefined ? 'Due' : `${STATE_WORDS[last.state]}: next attempt`} {ago(at)}
      </span>
      {last !== undefined && (
        <Writes>
          <Button
            look="small"
            disabled={hurry.isPending || hurry.isSuccess}
            onClick={() => hurry.mutate(last.id)}
          >
            {hurry.isSuccess ? 'Sending…' : 'Retry now'}
          </Button>
        </Writes>
      )}
      {hurry.error !== null && <span className="bad">{problemOf(hurry.error).detail}</span>}
    </div>
  )
}
