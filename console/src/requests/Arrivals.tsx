import { memo, useEffect, useState, useSyncExternalStore } from 'react'
import { BAR_MS, BARS, type Bar, type RejectedBars, rejections } from '../live/bars.ts'
import type { CaptureStream } from '../live/captureStream.ts'
import { count } from '../words/format.ts'

const BARS_A_MINUTE = 60_000 / BAR_MS

interface Props {
  readonly endpointId: string
  readonly stream: CaptureStream
  readonly isFiltered: boolean
}

/**
 * Chart of the last five minutes, five seconds a bar: captures refused for the rate on top, failures in their colour
 * below.
 */
export const Arrivals = memo(function Arrivals({ endpointId, stream, isFiltered }: Props) {
  const {
    bars,
    below,
    isLoading,
    others,
    problem,
    rejectedBefore,
    rows,
    totalCount,
    isEstimate,
    omitsSealed,
  } = useSyncExternalStore(stream.subscribe, stream.get)
  // Before the list has loaded, and after that has failed, nothing is known.
  const isKnown = !isLoading && (problem === null || rows.length > 0 || below !== null)
  const heard = useSyncExternalStore(rejections.subscribe, () => rejections.of(endpointId))
  const [now, setNow] = useState(() => Math.floor(Date.now() / BAR_MS))
  useEffect(() => {
    const timer = setInterval(() => setNow(Math.floor(Date.now() / BAR_MS)), 1000)
    return () => clearInterval(timer)
  }, [])
  const end = Math.max(now, bars[0]?.at ?? 0)
  const shown = withRejected(bars, new Map([...rejectedBefore, ...heard]))
  const top = Math.max(4, ...shown.map(({ good, bad, rejected }) => good + bad + rejected))
  const refusedCount = shown.reduce((sum, { at, rejected }) => (end - at < BARS ? sum + rejected : sum), 0)
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
        aria-label={isKnown ? `${recent} arrived in the last minute` : 'Arrivals'}
      >
        <rect className="rest" x="0" y="23.5" width={BARS * 4} height="0.5" />
        {shown.map(({ at, good, bad, rejected }) => {
          const x = (BARS - 1 - (end - at)) * 4
          if (x < 0) return null
          let y = 24
          return (
            <g key={at}>
              {Object.entries({ bad, good, refused: rejected }).map(([part, number]) => {
                const height = (number / top) * 22
                y -= height
                return (
                  number > 0 && (
                    <rect
                      key={part}
                      className={part}
                      x={x}
                      y={y}
                      width={2.8}
                      height={Math.max(height, 1.5)}
                    />
                  )
                )
              })}
            </g>
          )
        })}
      </svg>
      {isKnown && (
        <>
          <span>
            <b>{count(recent)}</b> / min
          </span>
          <span>
            {isEstimate && 'about '}
            <b>{count(totalCount)}</b> {isFiltered ? 'match' : 'stored'}
          </span>
        </>
      )}
      {omitsSealed && (
        <span title="The other filters find encrypted captures: method, label, event id, state, time.">
          encrypted text is not searched
        </span>
      )}
      {refusedCount > 0 && (
        <span
          className="refused-count"
          title="Answered with 429 in the last five minutes: over the rate limit of the endpoint"
        >
          <b>{count(refusedCount)}</b> refused
        </span>
      )}
      {isFiltered && others > 0 && (
        <span title="New captures that do not match the search">
          <b>+{count(others)}</b> {others === 1 ? 'other' : 'others'}
        </span>
      )}
    </div>
  )
})

function withRejected(bars: readonly Bar[], rejected: RejectedBars) {
  const known = new Set(bars.map(({ at }) => at))
  const others = [...rejected.keys()].filter((at) => !known.has(at)).map((at) => ({ at, good: 0, bad: 0 }))
  return [...bars, ...others].map((bar) => ({ ...bar, rejected: rejected.get(bar.at) ?? 0 }))
}
