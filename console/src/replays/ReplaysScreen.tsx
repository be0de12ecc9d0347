import { useQuery } from '@tanstack/react-query'
import { Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import type { Endpoint } from '../trpc.ts'
import { replaysQuery } from './queries.ts'
import { ReplayForm } from './ReplayForm.tsx'
import { ReplayItem } from './ReplayItem.tsx'

/** Replays of many requests of an endpoint: a form to start one, and the newest with their results. */
export function ReplaysScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  const { data, error } = useQuery(replaysQuery(endpoint.id))
  return (
    <>
      <section className="card" aria-labelledby="rehearse-title">
        <h2 id="rehearse-title">Rehearse</h2>
        <p className="hint">
          Sends captures again to another release, with the faults that really happen, and compares the
          answers.
        </p>
        <Writes>
          <ReplayForm endpoint={endpoint} />
        </Writes>
      </section>
      <Problem error={error} />
      {data !== undefined && data.items.length > 0 && (
        <ul className="cards" aria-label="Replays">
          {data.items.map((run) => (
            <ReplayItem key={run.id} endpointId={endpoint.id} run={run} />
          ))}
        </ul>
      )}
    </>
  )
}
