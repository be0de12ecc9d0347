import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Problem } from '../parts/Problem.tsx'
import { openIncidentsQuery } from '../shell/queries.ts'
import { ago, fullTime, plural } from '../words/format.ts'
import { useEventName } from './channel.ts'

/** Open incidents. */
export function Incidents() {
  const incidents = useQuery(openIncidentsQuery)
  const eventName = useEventName()
  const items = incidents.data?.items ?? []
  return (
    <section className="cards" aria-label="Incidents">
      <h2>Open incidents</h2>
      <Problem error={incidents.error} onRetry={() => void incidents.refetch()} />
      {incidents.data !== undefined && items.length === 0 && <p className="hint">No open incidents.</p>}
      {items.map(({ count, endpointId, id, kind, openedAt, subjectName }) => (
        <div key={id} className="item">
          <span className="badge" data-tone="bad">
            {eventName(kind)}
          </span>
          <span className="item-name">{subjectName}</span>
          <span className="item-what" title={fullTime(openedAt)}>
            {count > 1 && `${plural(count, 'request')}, `}since {ago(openedAt)}
          </span>
          {endpointId !== null && (
            <Link className="button small" href={`/e/${endpointId}/deliveries?state=DeadLetter`}>
              Show
            </Link>
          )}
        </div>
      ))}
    </section>
  )
}
