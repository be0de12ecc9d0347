import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { placeOf } from '../live/placeOf.ts'
import type { RequestSummary } from '../trpc.ts'
import { ROW_HEIGHT } from './CaptureRow.tsx'

/** The visible part of the list while the user reads further down. */
export interface StandingList {
  /** Number of newest rows that are not in the list yet; 0 while it follows. */
  readonly above: number
  /** Call when the list was scrolled. */
  readonly onScroll: () => void
  /** Adds the rows above. `true` scrolls to the top and follows, `false` keeps the visible rows in place. */
  readonly takeIn: (isToTop: boolean) => void
}

/**
 * Scrolled to the top, the list follows. Further down it is frozen: new rows are counted, but not added until the user
 * scrolls up, so that nothing moves or re-renders.
 */
export function useStandsStill(
  rows: readonly RequestSummary[],
  box: RefObject<HTMLDivElement | null>,
): StandingList {
  /** The newest visible row; undefined while the list follows. */
  const [first, setFirst] = useState<number>()
  const above = first === undefined ? 0 : Math.max(0, placeOf(rows, first))
  const latest = useRef({ rows, first, above })
  latest.current = { rows, first, above }
  /** Rows that were added above the visible ones; the next layout scrolls by them. */
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
