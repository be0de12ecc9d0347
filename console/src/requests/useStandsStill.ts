import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { placeOf } from '../live/placeOf.ts'
import type { RequestSummary } from '../trpc.ts'
import { ROW_HEIGHT } from './CaptureRow.tsx'

/** What of the list is shown to somebody who reads further down. */
export interface StandingList {
  /** So many of the newest are not in the list yet; 0 while it follows. */
  readonly above: number
  /** To be called when it was scrolled. */
  readonly onScroll: () => void
  /** Takes in what is above; `true` goes to the top and follows, `false` leaves the reader's rows in their places. */
  readonly takeIn: (isToTop: boolean) => void
}

/**
 * At the top the list follows. Further down it stands still: what arrives above is left out and counted, so that nothing moves
 * and nothing is drawn, until the reader has come up to it.
 */
export function useStandsStill(
  rows: readonly RequestSummary[],
  box: RefObject<HTMLDivElement | null>,
): StandingList {
  /** The newest row that is shown; undefined while the list follows. */
  const [first, setFirst] = useState<number>()
  const above = first === undefined ? 0 : Math.max(0, placeOf(rows, first))
  const latest = useRef({ rows, first, above })
  latest.current = { rows, first, above }
  /** Rows that were taken in above the reader's: the next layout moves the list by them. */
  const added = useRef(0)
  useLayoutEffect(() => {
    if (added.current === 0 || box.current === null) return
    box.current.scrollTop += added.current * ROW_HEIGHT
    added.current = 0
  })
  const takeIn = useCallback(
    (isToTop: boolean) => {
      const now = latest.current
      if (isToTop) {
        setFirst(undefined)
        box.current?.scrollTo({ top: 0 })
      } else if (now.above > 0) {
        added.current = now.above
        setFirst(now.rows[0]?.id)
      }
    },
    [box],
  )
  const onScroll = useCallback(() => {
    const now = latest.current
    const isAtTop = (box.current?.scrollTop ?? 0) < ROW_HEIGHT
    if (!isAtTop) {
      if (now.first === undefined) setFirst(now.rows[0]?.id)
    } else if (now.above > 0) takeIn(false)
    else if (now.first !== undefined) setFirst(undefined)
  }, [box, takeIn])
  return { above, onScroll, takeIn }
}
