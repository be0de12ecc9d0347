import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Fact, Page } from '../parts/Page.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { sessionQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { bytes, count, hasPlan, isLimit, limitOfBytes, limitWords, plural } from '../words/format.ts'

/** Use of the plan's limits. */
export function UsageScreen() {
  const session = useQuery(sessionQuery)
  const usage = useQuery({ queryKey: ['usage'], queryFn: () => creel.workspace.usage.query({}) })
  const error = session.error ?? usage.error
  if (session.data === undefined || usage.data === undefined) {
    const again = () => void Promise.all([session.refetch(), usage.refetch()])
    return <Page title="Usage">{error === null ? <Bones /> : <Problem error={error} onRetry={again} />}</Page>
  }
  const { limits, plan } = session.data
  const { alertChannels, apiKeys, endpoints, perEndpoint, storage, watchdogs } = usage.data
  const fullest = perEndpoint.toSorted((left, right) => right.storedRequestCount - left.storedRequestCount)
  return (
    <Page
      title="Usage"
      head={
        <>
          {hasPlan(plan) && <Badge>{plan.displayName} plan</Badge>}
          <Link className="button small" href="/health">
            Health
          </Link>
        </>
      }
    >
      <section className="meters" aria-label="Usage and limits">
        <Meter words="Endpoints" used={endpoints.count} limit={endpoints.max} />
        <Meter words="Watchdogs" used={watchdogs.count} limit={watchdogs.max} />
        <Meter words="Alert channels" used={alertChannels.count} limit={alertChannels.max} />
        <Meter words="API keys" used={apiKeys.count} limit={apiKeys.max} />
      </section>
      <Days />
      <section className="card" aria-label="Stored by endpoint">
        <h2>
          Stored by endpoint{' '}
          <span className="hint">
            {isLimit(limits.storedRequestsMax) && `at most ${count(limits.storedRequestsMax)} each, `}
            {isLimit(limits.retentionDays) && `for ${plural(limits.retentionDays, 'day')}, `}
            {bytes(storage.bytes)} in total, with headers and attempts
          </span>
        </h2>
        <div className="meters">
          {fullest.slice(0, 24).map(({ endpointId, name, storedRequestCount }) => (
            <Link key={endpointId} href={`/e/${endpointId}`}>
              <Meter words={name} used={storedRequestCount} limit={limits.storedRequestsMax} />
            </Link>
          ))}
        </div>
      </section>
      <section className="card" aria-label="Limits">
        <h2>Limits</h2>
        <dl className="facts">
          {Object.entries({
            'Captures per minute and endpoint': limitWords(limits.captureRatePerMinute),
            'Body size of a capture': limitOfBytes(limits.payloadBytesMax),
            'Actions per endpoint': limitWords(limits.actionsMax),
            'Rules per action': limitWords(limits.rulesMax),
            'API calls per minute and key': limitWords(limits.apiRatePerMinute),
          }).map(([name, words]) => (
            <Fact key={name} name={name}>
              {words}
            </Fact>
          ))}
        </dl>
      </section>
    </Page>
  )
}

const DAYS = 30
const DAY_MS = 86_400_000
const STEP = 10
const HEIGHT = 60

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** Captures of the last thirty days that are still stored, a bar for each day. */
function Days() {
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

const FULL = 0.9

/** The used share of a limit. */
function Meter({ words, used, limit }: { words: string; used: number; limit: number }) {
  const share = limit > 0 ? Math.min(1, used / limit) : 0
  return (
    <div className="meter">
      <p>
        <span className="cut">{words}</span>
        <span className="num">
          <b>{count(used)}</b>
          {isLimit(limit) && <span className="hint"> / {count(limit)}</span>}
        </span>
      </p>
      {isLimit(limit) && (
        <div className="meter-bar" data-full={share >= FULL} aria-hidden="true">
          <i style={{ inlineSize: `${share * 100}%` }} />
        </div>
      )}
    </div>
  )
}
