import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Card, Page } from '../parts/Page.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { Table } from '../parts/Table.tsx'
import { openIncidentsQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { ago, bytes, count, fullTime, plural } from '../words/format.ts'
import { isRecord } from '../words/json.ts'
import { problemOf } from '../words/problem.ts'

const LOOK_EVERY_MS = 5_000
const WAITING_MAX = 100

/** The state of the service, and of the workspace: deliveries that wait, their age, storage, incidents. */
export function HealthScreen() {
  const waiting = useQuery({
    queryKey: ['health'],
    queryFn: () => creel.workspace.health.query({}),
    refetchInterval: LOOK_EVERY_MS,
  })
  const usage = useQuery({ queryKey: ['usage'], queryFn: () => creel.workspace.usage.query({}) })
  const incidents = useQuery(openIncidentsQuery)
  const refusal = waiting.error === null ? undefined : problemOf(waiting.error)
  const rows = waiting.data?.waiting ?? []
  const late = rows.filter(({ isPaused, nextAttemptAt }) => !isPaused && isPast(nextAttemptAt))
  return (
    <Page title="Health">
      <Service />
      <Card title="Deliveries that wait">
        {refusal?.status === 403 ? (
          <p className="hint">{refusal.detail}</p>
        ) : (
          <Problem error={waiting.error} />
        )}
        {waiting.isLoading && <Bones />}
        {waiting.data !== undefined && rows.length === 0 && <p className="hint">No delivery waits.</p>}
        {late.length > 0 && (
          <p className="hint">{plural(late.length, 'action')} with an attempt that is due now.</p>
        )}
        {rows.length > 0 && (
          <Table heads={['Action', 'Endpoint', 'Waiting', 'Oldest', 'Next attempt']}>
            {rows.map(
              ({ actionId, actionName, endpointId, endpointName, isPaused, waitingCount, ...times }) => (
                <tr key={actionId}>
                  <th scope="row">
                    <Link className="link" href={`/e/${endpointId}/actions/${actionId}`}>
                      {actionName}
                    </Link>
                  </th>
                  <td>{endpointName}</td>
                  <td>
                    {waitingCount < WAITING_MAX ? count(waitingCount) : `${count(WAITING_MAX)} or more`}
                  </td>
                  <td>
                    {times.oldestAt !== null && (
                      <span title={fullTime(times.oldestAt)}>{ago(times.oldestAt)}</span>
                    )}
                  </td>
                  <td>
                    {isPaused ? (
                      <Badge tone="warn">paused</Badge>
                    ) : isPast(times.nextAttemptAt) ? (
                      'now'
                    ) : (
                      ago(times.nextAttemptAt)
                    )}
                  </td>
                </tr>
              ),
            )}
          </Table>
        )}
      </Card>
      <Card title="Storage and incidents">
        <Problem error={usage.error ?? incidents.error} />
        <dl className="facts">
          <Fact name="Stored">
            {usage.data !== undefined && bytes(usage.data.storage.bytes)}{' '}
            <Link className="link" href="/usage">
              Usage
            </Link>
          </Fact>
          <Fact name="Open incidents">
            {incidents.data?.totalCount}{' '}
            <Link className="link" href="/alerts">
              Alerts
            </Link>
          </Fact>
        </dl>
      </Card>
    </Page>
  )
}

const isPast = (at: string | null): boolean => at !== null && Date.parse(at) <= Date.now()

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Readiness of the service as monitoring systems read it, and its version. */
function Service() {
  const ready = useQuery({
    queryKey: ['readyz'],
    queryFn: () => jsonOf('/readyz'),
    refetchInterval: LOOK_EVERY_MS,
  })
  const description = useQuery({
    queryKey: ['description'],
    queryFn: () => jsonOf('/openapi/v1.json'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { status, checks, ...notes } = ready.data ?? {}
  const info = description.data?.info
  const shown = { ...(isRecord(checks) ? checks : {}), ...notes }
  return (
    <Card
      title={
        <>
          Service{' '}
          {typeof status === 'string' && <Badge tone={status === 'ready' ? 'ok' : 'bad'}>{status}</Badge>}
        </>
      }
      name="Service"
    >
      <Problem error={ready.error} />
      <dl className="facts">
        <Fact name="Version">{isRecord(info) && typeof info.version === 'string' && info.version}</Fact>
        {Object.entries(shown).map(([name, state]) => (
          <Fact key={name} name={name}>
            {String(state)}
          </Fact>
        ))}
      </dl>
    </Card>
  )
}

/** The JSON of a public page of the service, whatever its status. */
async function jsonOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const parsed: unknown = await (await fetch(path, { cache: 'no-store' })).json()
  return isRecord(parsed) ? parsed : {}
}
