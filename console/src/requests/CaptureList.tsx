import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import {
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { type CaptureStream, type Captures, placeOf } from '../live/captureStream.ts'
import { Button } from '../parts/Button.tsx'
import type { RequestSummary } from '../trpc.ts'
import { count, dayHeading, plural } from '../words/format.ts'
import { sharedMembers, tellingPreview } from '../words/telling.ts'
import { CaptureRow, ROW_HEIGHT, rowId } from './CaptureRow.tsx'

interface Props {
  readonly stream: CaptureStream
  /** Paths whose values the rows show. */
  readonly columns: readonly string[]
  readonly selected: number | undefined
  readonly picked: ReadonlySet<number>
  readonly onOpen: (id: number) => void
  readonly onPick: (id: number, isRange: boolean) => void
}

const ANNOUNCE_MS = 10_000

/**
 * The captures, newest first. Scrolled to the top, the list follows new captures. Further down it keeps its position
 * and shows the number of new ones.
 */
export const CaptureList = memo(function CaptureList({
  stream,
  columns,
  selected,
  picked,
  onOpen,
  onPick,
}: Props) {
  const captures = useSyncExternalStore(stream.subscribe, stream.get)
  const { rows, totalCount, below } = captures
  const box = useRef<HTMLDivElement>(null)
  const { above, onScroll, takeIn } = useStandsStill(rows, box)
  const virtual = useVirtualizer({
    count: rows.length - above,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    useFlushSync: false,
    getItemKey: (at) => rows[at + above]?.id ?? at,
  })

  const standing = useRef(above)
  standing.current = above
  useEffect(() => {
    const at = stream.get().rows.findIndex(({ id }) => id === selected)
    if (at >= 0 && at < standing.current) takeIn(true)
    else if (at >= 0) virtual.scrollToIndex(at - standing.current, { align: 'auto' })
    // Only when the selection changes, not with every arrival.
  }, [selected, stream, takeIn, virtual.scrollToIndex])

  const isSearching = rows.length === 0 && below !== null
  const shared = useMemo(() => sharedMembers(rows), [rows])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    // A long search may have found nothing yet. Then its position changes, and the next call continues there.
    if (last + above >= rows.length - 20 && below !== null) void stream.loadOlder()
  }, [above, last, rows.length, below, stream])

  return (
    <div className="list-frame">
      {above > 0 && (
        <Button look="primary newer" onClick={() => takeIn(true)}>
          <ArrowUp size={13} /> {count(above)} new
        </Button>
      )}
      {isSearching && <p className="hint pad">Looking further back…</p>}
      <Announcer rows={rows} isFollowed={above === 0} />
      <div
        ref={box}
        className="list"
        role="grid"
        aria-label="Captures, newest first"
        aria-rowcount={totalCount - above}
        aria-multiselectable="true"
        aria-busy={captures.isLoading || isSearching}
        aria-activedescendant={items.some(({ key }) => key === selected) ? rowId(selected) : undefined}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div role="presentation" style={{ height: virtual.getTotalSize() }}>
          {/* The block is moved and its rows flow, so a new capture does not re-render every row below it. */}
          <div
            role="rowgroup"
            className="block"
            style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          >
            {items.map(({ index, key }) => {
              const row = rows[index + above]
              return (
                row && (
                  <CaptureRow
                    key={key}
                    row={row}
                    preview={tellingPreview(row, shared)}
                    columns={columns}
                    day={dayHeading(row.receivedAt, rows[index + above - 1]?.receivedAt)}
                    at={index + 1}
                    isSelected={row.id === selected}
                    isPicked={picked.has(row.id)}
                    isNew={row.id >= captures.newFrom}
                    onOpen={onOpen}
                    onPick={onPick}
                  />
                )
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
})

/** Announces the number of new captures to screen readers, at most every ten seconds. */
function Announcer({ rows, isFollowed }: Pick<Captures, 'rows'> & { isFollowed: boolean }) {
  const [words, setWords] = useState('')
  const told = useRef(rows[0]?.id)
  const latest = useRef({ rows, isFollowed })
  latest.current = { rows, isFollowed }
  useEffect(() => {
    const timer = setInterval(() => {
      const now = latest.current
      const came = told.current === undefined ? 0 : placeOf(now.rows, told.current)
      told.current = now.rows[0]?.id
      if (came > 0 && now.isFollowed) setWords(`${plural(came, 'new capture')}`)
    }, ANNOUNCE_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <p className="sr-only" role="status">
      {words}
    </p>
  )
}

/**
 * Scrolled to the top, the list follows. Further down it is frozen: new rows are counted, but not added until the user
 * scrolls up, so that nothing moves or re-renders.
 */
function useStandsStill(rows: readonly RequestSummary[], box: RefObject<HTMLDivElement | null>) {
  /** The newest visible row; undefined while the list follows. */
  const [first, setFirst] = useState<number>()
  /** Number of newest rows that are not in the list yet; 0 while it follows. */
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
  /** Adds the rows above. `true` scrolls to the top and follows, `false` keeps the visible rows in place. */
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
