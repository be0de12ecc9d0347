import { useQuery } from '@tanstack/react-query'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { count } from '../words/format.ts'

const DAYS = 30
const DAY_MS = 86_400_000
const STEP = 10
const HEIGHT = 60

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** Captures of the last thirty days that are still stored, a bar for each day. */
export function Days() {
  const traffic = useQuery({
    queryKey: ['traffic', DAYS],
    queryFn: () =>
      creel.workspace.traffic.query({
        from: new Date(Date.now() - DAYS * DAY_MS).toISOString(),
        buckets: DAYS,
      }),
    staleTime: 60_000,
  })
  const buckets = traffic.data?.buckets ?? []
  const top = Math.max(1, ...buckets.map(({ capturedCount }) => capturedCount))
  const total = buckets.reduce((sum, { capturedCount }) => sum + capturedCount, 0)
  const [first] = buckets
  return (
    <section className="card" aria-label="Captures of the last 30 days">
      <h2>
        Captures of the last {DAYS} days{' '}
        <span className="hint">
          {traffic.data === undefined ? '' : `${count(total)} still stored, peak ${count(top)} per day`}
        </span>
      </h2>
      <Problem error={traffic.error} onRetry={() => void traffic.refetch()} />
      <svg
        className="days"
        viewBox={`0 0 ${DAYS * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${count(total)} captures in ${DAYS} days, peak ${count(top)} per day`}
      >
        <line className="base" x1="0" x2={DAYS * STEP} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {buckets.map(({ capturedCount, failedCount, rejectedCount, from }, at) => {
          const height = capturedCount === 0 ? 0 : Math.max(1.5, (capturedCount / top) * (HEIGHT - 4))
          return (
            <rect key={from} x={at * STEP + 1} y={HEIGHT - height} width={STEP - 2} height={height}>
              <title>
                {day.format(new Date(from))}: {count(capturedCount)} captured, {count(failedCount)} attempts
                failed, {count(rejectedCount)} refused
              </title>
            </rect>
          )
        })}
      </svg>
      <p className="axis hint">
        <span>{first === undefined ? '' : day.format(new Date(first.from))}</span>
        <span>today</span>
      </p>
    </section>
  )
}
