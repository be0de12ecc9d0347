import { memo, useEffect, useState, useSyncExternalStore } from 'react'
import { BAR_MS, BARS } from '../live/bars.ts'
import type { CaptureStream } from '../live/captureStream.ts'
import { count } from '../words/format.ts'

const BARS_A_MINUTE = 60_000 / BAR_MS

/** The last five minutes, five seconds a bar, failures in their colour below. */
export const Arrivals = memo(function Arrivals({
  stream,
  isFiltered,
}: {
  stream: CaptureStream
  isFiltered: boolean
}) {
  const { bars, others, totalCount } = useSyncExternalStore(stream.subscribe, stream.get)
  const [now, setNow] = useState(() => Math.floor(Date.now() / BAR_MS))
  useEffect(() => {
    const timer = setInterval(() => setNow(Math.floor(Date.now() / BAR_MS)), 1000)
    return () => clearInterval(timer)
  }, [])
  const end = Math.max(now, bars[0]?.at ?? 0)
  const top = Math.max(4, ...bars.map(({ good, bad }) => good + bad))
  const recent = bars.reduce(
    (sum, { at, good, bad }) => (end - at < BARS_A_MINUTE ? sum + good + bad : sum),
    0,
  )
  return (
    <div className="arrivals">
      <svg
        viewBox={`0 0 ${BARS * 4} 24`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${recent} arrived in the last minute`}
      >
        <rect className="rest" x="0" y="23.5" width={BARS * 4} height="0.5" />
        {bars.map(({ at, good, bad }) => {
          const x = (BARS - 1 - (end - at)) * 4
          if (x < 0) return null
          const high = (good / top) * 22
          const low = (bad / top) * 22
          return (
            <g key={at}>
              {good > 0 && (
                <rect className="good" x={x} y={24 - high - low} width={2.8} height={Math.max(high, 1.5)} />
              )}
              {bad > 0 && <rect className="bad" x={x} y={24 - low} width={2.8} height={Math.max(low, 1.5)} />}
            </g>
          )
        })}
      </svg>
      <span>
        <b>{count(recent)}</b> / min
      </span>
      <span>
        <b>{count(totalCount)}</b> {isFiltered ? 'match' : 'stored'}
      </span>
      {isFiltered && others > 0 && (
        <span title="Arrived since this list was opened, and do not match">
          <b>+{count(others)}</b> {others === 1 ? 'other' : 'others'}
        </span>
      )}
    </div>
  )
})
