import { useQuery } from '@tanstack/react-query'
import { creel } from '../trpc.ts'
import { count, fullTime, interval, plural } from '../words/format.ts'
import type { Watchdog } from './WatchdogForm.tsx'

const WIDTH = 1000
const HEIGHT = 34
const MIDDLE = 15
/** One tick an interval. */
const TICKS = Array.from({ length: 9 }, (_, at) => at / 8)
const REFRESH_MS = 30_000

/** Recent history: matches, alarms and their duration, and downtime of the service. */
export function Timeline({ watchdog }: { watchdog: Watchdog }) {
  const timeline = useQuery({
    queryKey: ['watchdog timeline', watchdog.id, watchdog.lastMatchedAt, watchdog.alarmedAt],
    queryFn: () => creel.watchdogs.timeline.query({ id: watchdog.id }),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  })
  if (timeline.data === undefined) return <div className="timeline" aria-busy="true" />
  const { alarms, matches, outages } = timeline.data
  const from = Date.parse(timeline.data.from)
  const to = Date.parse(timeline.data.to)
  const x = (at: string | number) => {
    const moment = typeof at === 'number' ? at : Date.parse(at)
    return Math.max(0, Math.min(WIDTH, ((moment - from) / (to - from)) * WIDTH))
  }
  const seconds = Math.round((to - from) / 1000)
  const said = [
    matches.length === 1 ? '1 match' : `${count(matches.length)} matches`,
    plural(alarms.length, 'alarm'),
    ...(outages.length > 0 ? [`${plural(outages.length, 'outage')} of the service`] : []),
  ].join(', ')
  return (
    <figure className="timeline">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`The last ${interval(seconds)}: ${said}`}
      >
        {TICKS.map((at) => (
          <line key={at} className="tick" x1={at * WIDTH} x2={at * WIDTH} y1="4" y2="26" />
        ))}
        <line className="base" x1="0" x2={WIDTH} y1={MIDDLE} y2={MIDDLE} />
        {outages.map((outage) => (
          <rect
            key={outage.from}
            className="down"
            x={x(outage.from)}
            y="5"
            height="20"
            width={Math.max(3, x(outage.to) - x(outage.from))}
          >
            <title>
              The service was down from {fullTime(outage.from)} to {fullTime(outage.to)}
            </title>
          </rect>
        ))}
        {alarms.map(({ alarmedAt, recoveredAt }) => (
          <rect
            key={alarmedAt}
            className="late"
            x={x(alarmedAt)}
            y="10"
            height="10"
            width={Math.max(3, x(recoveredAt ?? to) - x(alarmedAt))}
          >
            <title>
              Alarmed {fullTime(alarmedAt)}
              {recoveredAt === null ? ', still alarmed' : `, recovered ${fullTime(recoveredAt)}`}
            </title>
          </rect>
        ))}
        {matches.map(({ at, requestId }) => (
          <line key={requestId} className="match" x1={x(at)} x2={x(at)} y1="8" y2="22">
            <title>
              #{requestId}, {fullTime(at)}
            </title>
          </line>
        ))}
      </svg>
      <figcaption>
        <span>{interval(seconds)} ago</span>
        <span>{said}</span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}
