import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { type Action, type Answers, creel, type Endpoint } from '../trpc.ts'
import { ago, plural } from '../words/format.ts'

type Figures = Answers['actions']['backlog']

/** How often the backlog is read while it is shown, in milliseconds. */
const READ_EVERY_MS = 2000
/** Readings that the line shows: two minutes. */
const READINGS_MAX = 60
const LINE = { width: 180, height: 28 } as const

/** Shows live what waits for a forward action, and lets a person pause and resume it. */
export function Backlog({ endpoint, action }: { endpoint: Endpoint; action: Action }) {
  const names = { endpointId: endpoint.id, actionId: action.id }
  const queryKey = ['backlog', endpoint.id, action.id]
  const read = useQuery({
    queryKey,
    queryFn: () => creel.actions.backlog.query(names),
    refetchInterval: READ_EVERY_MS,
  })
  const [perSecond, setPerSecond] = useState('')
  const readings = useReadings(read.data?.waiting, read.dataUpdatedAt)
  const stale = [queryKey, ['actions', endpoint.id]]
  const pause = useCall(() => creel.actions.pause.mutate(names), stale)
  const resume = useCall(
    () =>
      creel.actions.resume.mutate({ ...names, ...(perSecond !== '' && { perSecond: Number(perSecond) }) }),
    stale,
  )
  const backlog = read.data
  if (backlog === undefined) return <Problem error={read.error} />
  const isPaused = action.pausedAt !== null
  return (
    <section className="backlog" aria-label={`Backlog of ${action.name}`}>
      <div className="acts">
        <span>
          <b className="num">{backlog.waiting}</b> waiting, <b className="num">{backlog.inFlight}</b> in
          flight
        </span>
        <Line readings={readings} />
        {isPaused ? (
          <>
            <Badge tone="warn">paused {ago(action.pausedAt ?? '')}</Badge>
            <input
              className="input small"
              type="number"
              min={1}
              max={10_000}
              placeholder="per second"
              aria-label="Attempts per second until the backlog is empty"
              value={perSecond}
              onChange={({ target }) => setPerSecond(target.value)}
            />
            <Button look="small" {...resume.button()}>
              Resume
            </Button>
          </>
        ) : (
          <Button look="small" {...pause.button()}>
            Pause
          </Button>
        )}
      </div>
      <Facts backlog={backlog} />
      <Held endpoint={endpoint} backlog={backlog} stale={stale} />
      <Problem error={pause.error ?? resume.error} />
    </section>
  )
}

/** One line of what bounds the flow, and how long it will take. */
function Facts({ backlog }: { readonly backlog: Figures }) {
  const { breaker, drainsAt, expiring, keysWaiting, notBefore, oldestWaitingAt, rate } = backlog
  const facts = [
    oldestWaitingAt !== null && `oldest ${ago(oldestWaitingAt)}`,
    rate !== null && `${rate.count} per ${rate.perSeconds} s`,
    drainsAt !== null && `empty ${ago(drainsAt)}`,
    keysWaiting > 0 && `${plural(keysWaiting, 'key')} with deliveries that wait for an earlier one`,
    notBefore !== null && `the receiver asked to wait: next attempt ${ago(notBefore)}`,
  ].filter((fact) => fact !== false)
  return (
    <>
      {facts.length > 0 && <p className="hint">{facts.join(' · ')}</p>}
      {breaker.state !== 'closed' && (
        <p className="bad">
          Circuit breaker: {breaker.state}
          {breaker.nextProbeAt !== null && `, next probe ${ago(breaker.nextProbeAt)}`}
        </p>
      )}
      {expiring > 0 && (
        <p className="bad">Retention will delete {plural(expiring, 'delivery')} before they are sent.</p>
      )}
    </>
  )
}

interface HeldProps {
  readonly endpoint: Endpoint
  readonly backlog: Figures
  readonly stale: readonly QueryKey[]
}

/** The keys that a dead letter stops, each with the request that holds it, and a way past it. */
function Held({ endpoint, backlog, stale }: HeldProps) {
  const skip = useCall(
    (attemptId: number) => creel.deliveries.skip.mutate({ endpointId: endpoint.id, attemptId }),
    stale,
  )
  if (backlog.keysHeld.length === 0) return null
  return (
    <ul className="held" aria-label="Held keys">
      {backlog.keysHeld.map(({ attemptId, key, requestId, since }) => (
        <li key={requestId} className="acts">
          <code>{key}</code> is held by{' '}
          <Link className="link" href={`/e/${endpoint.id}?r=${requestId}`}>
            request {requestId}
          </Link>{' '}
          since {ago(since)}
          {attemptId !== null && (
            <Button look="small" {...skip.button(attemptId)}>
              Skip
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The last readings of a figure; one is added with each answer. */
function useReadings(value: number | undefined, readAt: number): readonly number[] {
  const [readings, setReadings] = useState<readonly number[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer that says the same is a reading, too
  useEffect(() => {
    if (value !== undefined) setReadings((before) => [...before, value].slice(-READINGS_MAX))
  }, [value, readAt])
  return readings
}

/** A line of readings, from none to the most. */
function Line({ readings }: { readonly readings: readonly number[] }) {
  const most = Math.max(1, ...readings)
  const points = readings.map((value, index) => {
    const x = (index / (READINGS_MAX - 1)) * LINE.width
    const y = LINE.height - 1 - (value / most) * (LINE.height - 2)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  return (
    <svg
      className="spark"
      width={LINE.width}
      height={LINE.height}
      role="img"
      aria-label={`Waiting in the last minutes, at most ${most}`}
    >
      <polyline points={points.join(' ')} fill="none" stroke="currentColor" />
    </svg>
  )
}
