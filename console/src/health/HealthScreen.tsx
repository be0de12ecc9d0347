import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { servedVersion } from '../parts/Boundary.tsx'
import { Button } from '../parts/Button.tsx'
import { Card, Fact, Page } from '../parts/Page.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { Table } from '../parts/Table.tsx'
import { type Answers, creel } from '../trpc.ts'
import { ago, bytes, count, fullTime, interval, limitOfBytes } from '../words/format.ts'
import { problemOf } from '../words/problem.ts'
import { type Readiness, readinessOf, sectionOf, serviceTroubles, withKeys } from './readiness.ts'

const LOOK_EVERY_MS = 5_000
const BUILD_EVERY_MS = 60_000
/** Number to which the service counts what waits at one place. */
const WAITING_MAX = 1_000

type Health = Answers['workspace']['health']
type Trouble = Health['problems'][number]

/** Problems of the workspace and of the service, queues, storage and version. */
export function HealthScreen() {
  const health = useQuery({
    queryKey: ['health'],
    queryFn: () => creel.workspace.health.query({}),
    refetchInterval: LOOK_EVERY_MS,
  })
  const ready = useQuery({
    queryKey: ['readyz'],
    queryFn: async () => readinessOf(await (await fetch('/readyz', { cache: 'no-store' })).json()),
    refetchInterval: LOOK_EVERY_MS,
  })
  const { data } = health
  const refusal = health.error === null ? undefined : problemOf(health.error)
  // An answer from before an outage says nothing of the service now.
  const readiness = ready.error === null ? ready.data : undefined
  const isWhole = data !== undefined && health.error === null && readiness !== undefined
  const troubles = [...serviceTroubles(readiness), ...(data?.problems ?? [])]
  return (
    <Page title="Health">
      <Card title="Problems">
        {refusal?.status === 403 ? (
          <p className="hint">{refusal.detail}</p>
        ) : (
          <Problem error={health.error ?? ready.error} />
        )}
        {health.isLoading && <Bones />}
        {isWhole && troubles.length === 0 && <p className="hint">Nothing is wrong.</p>}
        <ul className="cards">
          {withKeys(troubles).map(({ key, trouble }) => (
            <TroubleItem key={key} trouble={trouble} />
          ))}
        </ul>
      </Card>
      {data !== undefined && <Queues queues={data.queues} />}
      {data !== undefined && data.actions.length > 0 && <Actions actions={data.actions} />}
      <Service readiness={readiness} health={data} />
    </Page>
  )
}

function TroubleItem({ trouble }: { readonly trouble: Trouble }) {
  const { actionId, detail, endpointId, runbook, since, title } = trouble
  const place =
    endpointId === null ? null : `/e/${endpointId}${actionId === null ? '' : `/actions/${actionId}`}`
  return (
    <li className="item trouble">
      <span className="item-name">{title}</span>
      <span className="item-what">
        {detail}
        {since !== null && <span title={fullTime(since)}> · since {ago(since)}</span>}
      </span>
      {place !== null && (
        <Link className="button small" href={place}>
          Show
        </Link>
      )}
      {runbook !== null && <Runbook address={runbook} />}
    </li>
  )
}

const QUEUE_WORDS: Readonly<Record<Health['queues'][number]['queue'], string>> = {
  deliveries: 'Deliveries',
  alerts: 'Alerts',
  events: 'Events for agents',
}

const Queues = ({ queues }: { readonly queues: Health['queues'] }) => (
  <Card title="Queues">
    <Table heads={['Queue', 'Waiting', 'Oldest', 'Late by']}>
      {queues.map(({ lateSeconds, oldestAt, queue, waitingCount }) => (
        <tr key={queue}>
          <th scope="row">{QUEUE_WORDS[queue]}</th>
          <td data-head="waiting">{count(waitingCount)}</td>
          <td data-head="oldest">{oldestAt === null ? '–' : <Time at={oldestAt} />}</td>
          <td data-head="late by">{lateSeconds > 0 ? interval(lateSeconds) : '–'}</td>
        </tr>
      ))}
    </Table>
  </Card>
)

const Actions = ({ actions }: { readonly actions: Health['actions'] }) => (
  <Card title="Deliveries that wait">
    <Table heads={['Action', 'Endpoint', 'Waiting', 'Oldest', 'Next attempt']}>
      {actions.map(({ actionId, actionName, endpointId, endpointName, isPaused, ...waiting }) => (
        <tr key={actionId}>
          <th scope="row">
            <Link className="link" href={`/e/${endpointId}/actions/${actionId}`}>
              {actionName}
            </Link>
          </th>
          <td>{endpointName}</td>
          <td data-head="waiting">
            {count(waiting.waitingCount)}
            {waiting.waitingCount >= WAITING_MAX && ' or more'}
          </td>
          <td data-head="oldest">{waiting.oldestAt !== null && <Time at={waiting.oldestAt} />}</td>
          <td data-head="next">
            {isPaused ? (
              <Badge tone="warn">paused</Badge>
            ) : waiting.nextAttemptAt !== null && Date.parse(waiting.nextAttemptAt) > Date.now() ? (
              ago(waiting.nextAttemptAt)
            ) : (
              'now'
            )}
          </td>
        </tr>
      ))}
    </Table>
  </Card>
)

const Time = ({ at }: { readonly at: string }) => <span title={fullTime(at)}>{ago(at)}</span>

/** Readiness as monitoring systems read it, version and storage. */
function Service({ readiness, health }: { readiness: Readiness | undefined; health: Health | undefined }) {
  const served = useQuery({ queryKey: ['build'], queryFn: servedVersion, refetchInterval: BUILD_EVERY_MS })
  return (
    <Card
      title={
        <>
          Service{' '}
          {readiness !== undefined && (
            <Badge tone={readiness.status === 'ready' ? 'ok' : 'bad'}>{readiness.status}</Badge>
          )}
        </>
      }
      name="Service"
    >
      <dl className="facts">
        <Fact name="Version">{health?.version}</Fact>
        {health !== undefined && (
          <Fact name="Stored">
            {bytes(health.storage.bytes)} of {limitOfBytes(health.storage.bytesMax)}{' '}
            <Link className="link" href="/usage">
              Usage
            </Link>
          </Fact>
        )}
        {readiness?.states.map(([name, state]) => (
          <Fact key={name} name={name}>
            {state}
          </Fact>
        ))}
      </dl>
      {served.data === 'other' && (
        <p className="acts">
          A newer build is serving than the one that this page is of.
          <Button look="small" onClick={() => location.reload()}>
            Reload
          </Button>
        </p>
      )}
    </Card>
  )
}

/** The section of the runbook at an address (`docs/runbook.md#creeldown`), read when it is opened. */
function Runbook({ address }: { readonly address: string }) {
  const [isOpen, setOpen] = useState(false)
  const [file = '', section = ''] = address.split('#')
  const page = useQuery({
    queryKey: ['page', file],
    queryFn: async () => (await fetch(`/${file}`)).text(),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <details className="runbook" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What to do</summary>
      <Problem error={page.error} />
      <p>{page.data !== undefined && sectionOf(page.data, section)}</p>
      <a className="link" href={`/${file}`} target="_blank" rel="noreferrer">
        Runbook
      </a>
    </details>
  )
}
