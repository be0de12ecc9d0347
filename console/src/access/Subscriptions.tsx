import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall } from '../parts/useForm.ts'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

const REFRESH_MS = 10_000
const SHOWN = 100

/** Callbacks of agents that are sent events. `mayEnd`: whether the caller may end them. */
export function Subscriptions({ mayEnd }: { readonly mayEnd: boolean }) {
  const subscriptions = useQuery({
    queryKey: ['subscriptions'],
    queryFn: () => creel.subscriptions.list.query({ pageSize: SHOWN }),
    refetchInterval: REFRESH_MS,
  })
  const end = useCall(
    (subscriptionId: string) => creel.subscriptions.end.mutate({ subscriptionId }),
    [['subscriptions']],
  )
  const { items = [], totalCount = 0 } = subscriptions.data ?? {}
  return (
    <Card title="Subscriptions">
      <Problem error={subscriptions.error ?? end.error} />
      {subscriptions.data !== undefined && items.length === 0 && (
        <p className="hint">No subscriptions. An agent subscribes at /mcp with a key that may write.</p>
      )}
      {items.length > 0 && (
        <Table heads={['Event', 'Key', 'Sent to', 'Last result', 'Until', 'End']} hidden="End">
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
        </Table>
      )}
      {totalCount > items.length && (
        <p className="hint">
          The newest {SHOWN} of {totalCount}. <code>creel subscriptions list</code> shows all.
        </p>
      )}
    </Card>
  )
}

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
