import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import {
  memo,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { CaptureStream, Captures } from '../live/captureStream.ts'
import { count, plural } from '../words/format.ts'
import { CaptureRow, ROW_HEIGHT } from './CaptureRow.tsx'

interface Props {
  readonly stream: CaptureStream
  readonly selected: number | undefined
  readonly picked: ReadonlySet<number>
  readonly onOpen: (id: number) => void
  readonly onPick: (id: number, isRange: boolean) => void
}

const ANNOUNCE_MS = 10_000

/** Newest first. At the top it follows; further down it stays where the reader is, and says how many came. */
export const CaptureList = memo(function CaptureList({ stream, selected, picked, onOpen, onPick }: Props) {
  const captures = useSyncExternalStore(stream.subscribe, stream.get)
  const { rows, totalCount, below } = captures
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    useFlushSync: false,
    getItemKey: (at) => rows[at]?.id ?? at,
  })
  const [above, setAbove] = useStandsStill(captures, box)

  useEffect(() => {
    const at = stream.get().rows.findIndex(({ id }) => id === selected)
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
    // Only when another is selected, not with every arrival.
  }, [selected, stream, virtual.scrollToIndex])

  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    // A long search may have found none yet: then it goes on from another place.
    if (last >= rows.length - 20 && below !== null) void stream.loadOlder()
  }, [last, rows.length, below, stream])

  const toTop = () => {
    box.current?.scrollTo({ top: 0 })
    setAbove(0)
  }
  return (
    <div className="list-frame">
      {above > 0 && (
        <button type="button" className="button primary newer" onClick={toTop}>
          <ArrowUp size={13} aria-hidden="true" /> {count(above)} new
        </button>
      )}
      <Announcer newest={rows[0]?.id} isFollowed={above === 0} />
      <div
        ref={box}
        className="list"
        role="grid"
        aria-label="Captures, newest first"
        aria-rowcount={totalCount}
        aria-multiselectable="true"
        aria-busy={captures.isLoading}
        tabIndex={0}
        onScroll={(event) => {
          if (event.currentTarget.scrollTop < ROW_HEIGHT && above > 0) setAbove(0)
        }}
      >
        <div role="presentation" style={{ height: virtual.getTotalSize() }}>
          {/* The block is moved and its rows flow: an arrival draws itself, not every row below it. */}
          <div
            role="rowgroup"
            className="block"
            style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          >
            {items.map(({ index, key }) => {
              const row = rows[index]
              return (
                row && (
                  <CaptureRow
                    key={key}
                    row={row}
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

/** Keeps the reader's rows in place when others come above them, and counts those. */
function useStandsStill(
  { rows }: Captures,
  box: RefObject<HTMLDivElement | null>,
): [number, (above: number) => void] {
  const first = useRef<number | undefined>(undefined)
  const [above, setAbove] = useState(0)
  useLayoutEffect(() => {
    const known = first.current
    first.current = rows[0]?.id
    const place = box.current
    if (known === undefined || place === null || known === rows[0]?.id || place.scrollTop < ROW_HEIGHT) return
    const added = rows.findIndex(({ id }) => id <= known)
    if (added <= 0) return
    place.scrollTop += added * ROW_HEIGHT
    setAbove((before) => before + added)
  }, [rows, box])
  return [above, setAbove]
}

/** Tells screen readers what came, in sum, at most every ten seconds. */
function Announcer({ newest, isFollowed }: { newest: number | undefined; isFollowed: boolean }) {
  const [words, setWords] = useState('')
  const told = useRef(newest)
  const latest = useRef({ newest, isFollowed })
  latest.current = { newest, isFollowed }
  useEffect(() => {
    const timer = setInterval(() => {
      const now = latest.current
      const came = (now.newest ?? 0) - (told.current ?? now.newest ?? 0)
      told.current = now.newest
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
