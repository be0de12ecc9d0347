import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

const REFRESH_MS = 10_000
const SHOWN = 100

/** Callbacks of agents that are sent events. `mayEnd`: whether the caller may end them. */
export function Subscriptions({ mayEnd }: { readonly mayEnd: boolean }) {
  const queries = useQueryClient()
  const subscriptions = useQuery({
    queryKey: ['subscriptions'],
    queryFn: () => creel.subscriptions.list.query({ pageSize: SHOWN }),
    refetchInterval: REFRESH_MS,
  })
  const end = useMutation({
    mutationFn: (subscriptionId: string) => creel.subscriptions.end.mutate({ subscriptionId }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  })
  const { items = [], totalCount = 0 } = subscriptions.data ?? {}
  return (
    <section className="card" aria-label="Subscriptions">
      <div className="section-head">
        <h2>Subscriptions</h2>
      </div>
      <Problem error={subscriptions.error ?? end.error} />
      {subscriptions.data !== undefined && items.length === 0 && (
        <p className="hint">No subscriptions. An agent subscribes at /mcp with a key that may write.</p>
      )}
      {items.length > 0 && (
        <div className="table-frame">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Event</th>
                <th scope="col">Key</th>
                <th scope="col">Sent to</th>
                <th scope="col">Last result</th>
                <th scope="col">Until</th>
                <th scope="col">
                  <span className="sr-only">End</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => (
                <tr key={one.id}>
                  <th scope="row">
                    <Link className="link" href={`/e/${one.endpointId}`}>
                      {one.name}
                    </Link>
                  </th>
                  <td>{one.key.name}</td>
                  <td>{one.host}</td>
                  <td>{resultOf(one)}</td>
                  <td title={fullTime(one.expiresAt)}>{ago(one.expiresAt)}</td>
                  <td className="end">
                    {mayEnd && (
                      <Button look="small" disabled={end.isPending} onClick={() => end.mutate(one.id)}>
                        End
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {totalCount > items.length && (
        <p className="hint">
          The newest {SHOWN} of {totalCount}. <code>creel subscriptions list</code> shows all.
        </p>
      )}
    </section>
  )
}

/** Words for the reasons of failed attempts. */
const FAILURES: Readonly<Record<string, string>> = {
  connection_refused: 'not reached',
  timeout: 'no answer in time',
  tls_error: 'certificate not trusted',
  http_4xx: 'refused (4xx)',
  http_5xx: 'failed (5xx)',
  challenge_failed: 'challenge not repeated',
}

type Listed = Awaited<ReturnType<typeof creel.subscriptions.list.query>>['items'][number]

function resultOf({ status, waitingCount }: Listed): string {
  const waiting = waitingCount === 0 ? '' : `, ${waitingCount} waiting`
  if (status.lastError !== null) return `${FAILURES[status.lastError] ?? status.lastError}${waiting}`
  if (status.throttled) return `waits for the next minute${waiting}`
  return status.lastDeliveryAt === null
    ? `nothing sent yet${waiting}`
    : `sent ${ago(status.lastDeliveryAt)}${waiting}`
}
