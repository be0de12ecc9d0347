import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../parts/Problem.tsx'
import { STATE_WORDS } from '../parts/StateMark.tsx'
import { attemptsQuery } from '../requests/queries.ts'
import type { Attempt, RequestDetail, RequestSummary } from '../trpc.ts'
import { ago, withoutScheme } from '../words/format.ts'
import { AttemptItem } from './AttemptItem.tsx'

interface Props {
  readonly endpointId: string
  readonly request: RequestDetail
  /** As the list knows it now. */
  readonly row: RequestSummary | undefined
}

/** Every attempt of every action, the newest of each on top, with exactly what was sent and received. */
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
          : 'No action was switched on when this arrived.'}
      </p>
    )
  }
  const byAction = Map.groupBy(items, ({ actionName }) => actionName)
  const longest = Math.max(1, ...items.map(({ durationMs }) => durationMs ?? 0))
  return (
    <div className="deliveries">
      {[...byAction].map(([actionName, ofAction]) => {
        const delivery = request.deliveries.find((one) => one.actionName === actionName)
        return (
          <section key={actionName} aria-label={actionName}>
            <h3>
              {actionName} <span className="hint">{withoutScheme(ofAction[0]?.url ?? '')}</span>
            </h3>
            {delivery?.nextAttemptAt != null && (
              <NextAttempt at={delivery.nextAttemptAt} last={ofAction[0]} />
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
        .filter(({ actionName }) => !byAction.has(actionName))
        .map(({ actionName, state }) => (
          <section key={actionName} aria-label={actionName}>
            <h3>{actionName}</h3>
            <p className="next">{state === 'Pending' ? 'Waiting for a worker' : state}</p>
          </section>
        ))}
    </div>
  )
}

/** When the next attempt is due. */
function NextAttempt({ at, last }: { at: string; last: Attempt | undefined }) {
  return (
    <p className="next">
      {last === undefined ? 'Due' : `${STATE_WORDS[last.state]}: next attempt`} {ago(at)}
    </p>
  )
}
