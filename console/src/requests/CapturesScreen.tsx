import { FlaskConical, Pause, Play } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useCaptureAddress } from '../address.ts'
import { EndpointBar } from '../endpoints/EndpointBar.tsx'
import { captureSource } from '../live/captureSource.ts'
import { CaptureStream, type Surroundings } from '../live/captureStream.ts'
import { checkSession } from '../live/queryClient.ts'
import { session } from '../outage.ts'
import { lazyPart } from '../parts/Boundary.tsx'
import { BulkBar, CHUNK, type Chosen, startBulk } from '../parts/BulkBar.tsx'
import { Button } from '../parts/Button.tsx'
import { toast } from '../parts/Toasts.tsx'
import { Writes } from '../parts/Writes.tsx'
import { creel, type Endpoint, type RequestSummary } from '../trpc.ts'
import { count, plural } from '../words/format.ts'
import { filtersOf, parseSearch } from '../words/grammar.ts'
import { problemOf } from '../words/problem.ts'
import { Arrivals } from './Arrivals.tsx'
import { CaptureList } from './CaptureList.tsx'
import { SearchBox, Terms } from './SearchBox.tsx'
import { useSelection } from './selection.ts'
import { useCaptureKeys } from './useCaptureKeys.ts'

const loadPane = () => import('./RequestPane.tsx')
const FirstRun = lazyPart(async () => (await import('./FirstRun.tsx')).FirstRun)
const SelectionBar = lazyPart(async () => (await import('./SelectionBar.tsx')).SelectionBar)
const SendSample = lazyPart(async () => (await import('./SendSample.tsx')).SendSample)
const RequestPane = lazyPart(
  async () => (await loadPane()).RequestPane,
  () => <aside className="detail" aria-label="Request" aria-busy="true" />,
)

const browser: Surroundings = {
  later(run, ms) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  isHidden: () => document.hidden,
  onVisibility(run) {
    document.addEventListener('visibilitychange', run)
    return () => document.removeEventListener('visibilitychange', run)
  },
  check: checkSession,
  words: (error) => problemOf(error).detail,
}

/** The captures of an endpoint, live, and next to them the open request. */
export function CapturesScreen({ endpoint }: { endpoint: Endpoint }) {
  const [address, change] = useCaptureAddress()
  const terms = useMemo(() => parseSearch(address.q), [address.q])
  const filters = useMemo(() => filtersOf(terms), [terms])
  const columnsKey = endpoint.columns.join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns have other values, which are read again
  const stream = useMemo(
    () => new CaptureStream(captureSource(endpoint.id, filters), browser),
    [endpoint.id, filters, columnsKey],
  )
  const list = useRef(stream)
  list.current = stream
  const deletions = useMemo(() => new Deletions(endpoint.id, list), [endpoint.id])
  // Values that change with every arrival are read by the parts that show them. This screen re-renders only when these
  // change.
  const watch = stream.subscribe
  const isEmpty = useSyncExternalStore(watch, () => {
    const { below, isLoading, problem, rows } = stream.get()
    return !isLoading && rows.length === 0 && below === null && problem === null
  })
  const problem = useSyncExternalStore(watch, () => stream.get().problem)
  const connection = useSyncExternalStore(watch, () => stream.get().connection)
  const isPaused = useSyncExternalStore(watch, () => stream.get().isPaused)
  const held = useSyncExternalStore(watch, () => stream.get().held)
  const row = useSyncExternalStore(watch, () => stream.find(address.r))
  const selection = useSelection(stream)

  const open = useCallback(
    (r: number | undefined, replace = false) =>
      change(
        r === undefined
          ? { r: undefined, tab: undefined, c: undefined, edit: undefined }
          : { r, c: undefined, edit: undefined },
        replace,
      ),
    [change],
  )
  useFirstOpensItself(stream, isEmpty && address.q === '' && address.r === undefined, open)
  useEffect(() => session.subscribe(() => void (session.get() === 'in' && stream.open())), [stream])
  // Preloaded for the first request that is opened, after the first screen.
  useEffect(() => void loadPane().catch(() => undefined), [])
  const pause = () => stream.setPaused(!stream.get().isPaused)
  const shown = useRef(address.r)
  useEffect(() => {
    shown.current = address.r
    return () => {
      shown.current = undefined
    }
  }, [address.r])
  /** Closes the open capture if it is among deleted ones; it may match although its row is not loaded. */
  const leave = (ids: readonly number[]) => {
    if (shown.current !== undefined && ids.includes(shown.current)) open(undefined)
  }
  /** Deletes what is selected, else the open capture. */
  const remove = () => {
    const picked = [...selection.picked]
    const ids = picked.length > 0 ? picked : address.r === undefined ? [] : [address.r]
    if (ids.length === 0) return
    if (selection.isAll || ids.length > CHUNK) {
      if (!deletions.removeMany(selection.chosen(filters), leave)) return
    } else void deletions.remove(ids)
    if (selection.isAll ? row !== undefined : address.r !== undefined && ids.includes(address.r)) {
      open(undefined)
    }
    selection.clear()
  }
  useCaptureKeys({
    stream,
    selected: address.r,
    open,
    pause,
    pick: selection.toggle,
    remove,
    undo: () => void deletions.undo(),
  })

  return (
    <main id="main" className="endpoint" data-detail={address.r === undefined ? 'closed' : 'open'}>
      <EndpointBar endpoint={endpoint} place="captures">
        <Connection state={problem !== null ? 'lost' : isPaused ? 'paused' : connection} />
      </EndpointBar>
      <section className="stream" aria-label="Captures">
        <div className="tools">
          <SearchBox
            endpointId={endpoint.id}
            value={address.q}
            onChange={(q) => change({ q, r: undefined, tab: undefined }, true)}
          />
          <Writes>
            <Button look="icon" onClick={() => change({ sample: 1 })} label="Send a sample event">
              <FlaskConical size={14} />
            </Button>
          </Writes>
          <Button aria-pressed={isPaused} onClick={pause} title="Pause (p)">
            {isPaused ? <Play size={14} /> : <Pause size={14} />}
            {isPaused ? (
              held > 0 ? (
                `Show ${count(held)}`
              ) : (
                'Resume'
              )
            ) : (
              <>
                <span className="wide-only" aria-hidden="true">
                  Pause
                </span>
                <span className="sr-only">Pause</span>
              </>
            )}
          </Button>
        </div>
        <Terms search={address.q} terms={terms} onChange={(q) => change({ q }, true)} />
        <Arrivals endpointId={endpoint.id} stream={stream} isFiltered={terms.length > 0} />
        {problem !== null && (
          <p className="banner" data-tone="bad" role="alert">
            {problem}
            <Button look="small" onClick={() => void stream.open()}>
              Try again
            </Button>
          </p>
        )}
        <BulkBar endpointId={endpoint.id} />
        {selection.picked.size > 0 && (
          <SelectionBar
            endpointId={endpoint.id}
            filters={filters}
            stream={stream}
            selection={selection}
            onRemove={remove}
          />
        )}
        {isEmpty ? (
          terms.length > 0 ? (
            <NothingMatches onClear={() => change({ q: undefined })} />
          ) : (
            <FirstRun endpoint={endpoint} onSample={() => change({ sample: 1 })} />
          )
        ) : (
          <CaptureList
            stream={stream}
            columns={endpoint.columns}
            selected={address.r}
            picked={selection.picked}
            onOpen={open}
            onPick={selection.pick}
          />
        )}
      </section>
      {address.r !== undefined && (
        <RequestPane
          key={address.r}
          endpoint={endpoint}
          requestId={address.r}
          row={row}
          stream={stream}
          address={address}
          onChange={change}
          onClose={() => open(undefined)}
          onRemove={() => {
            open(undefined)
            void deletions.remove(address.r === undefined ? [] : [address.r])
          }}
        />
      )}
      {address.isSampling && (
        <SendSample endpoint={endpoint} onClose={() => change({ sample: undefined }, true)} />
      )}
    </main>
  )
}

/** Opens the first capture of an empty endpoint when it arrives; once. */
function useFirstOpensItself(
  stream: CaptureStream,
  isWaiting: boolean,
  open: (id: number, replace: boolean) => void,
): void {
  const wasWaiting = useRef(false)
  const [firstId, setFirstId] = useState<number>()
  useEffect(
    () =>
      stream.subscribe(() => {
        const { isLoading, rows } = stream.get()
        if (isLoading || !wasWaiting.current || rows.length === 0) return
        wasWaiting.current = false
        setFirstId(rows.at(-1)?.id)
      }),
    [stream],
  )
  useEffect(() => {
    if (isWaiting) wasWaiting.current = true
  }, [isWaiting])
  useEffect(() => {
    if (firstId !== undefined) open(firstId, true)
  }, [firstId, open])
}

const WORDS = { live: 'Live', connecting: 'Connecting', paused: 'Paused', lost: 'Disconnected' } as const

function Connection({ state }: { state: keyof typeof WORDS }) {
  return (
    <span className="connection" data-state={state} role="status">
      <span className="pulse" aria-hidden="true" />
      {WORDS[state]}
    </span>
  )
}

/** Shown when no stored capture matches the search. */
function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <div className="nothing">
      <h2>No matches</h2>
      <p>New captures that match will appear here.</p>
      <Button onClick={onClear}>Clear search</Button>
    </div>
  )
}

interface Deletion {
  readonly ids: readonly number[]
  readonly rows: readonly RequestSummary[]
  /** The list that had the rows. */
  readonly from: CaptureStream
  readonly call: Promise<{ readonly deletedCount: number }>
  closeNote: () => void
}

/** Deletes captures of an endpoint; each deletion of up to 500 can be undone once, also after another search. */
class Deletions {
  /** The deletions that can be undone, the latest last; null for one of more, which cannot be undone at once. */
  #made: readonly (Deletion | null)[] = []

  constructor(
    readonly endpointId: string,
    /** The list that is shown. */
    readonly list: { readonly current: CaptureStream },
  ) {}

  /**
   * Removes up to 500 captures from the list, then moves them to the recycle bin. Restores them to the list when that
   * is refused. Never rejects.
   */
  async remove(ids: readonly number[]): Promise<void> {
    const from = this.list.current
    const rows = from.remove(new Set(ids))
    const call = creel.requests.bulkDelete.mutate({ endpointId: this.endpointId, requestIds: [...ids] })
    const made: Deletion = { ids, rows, from, call, closeNote: () => {} }
    // Before the answer: until then, too, it is the latest.
    this.#made = [...this.#made, made]
    try {
      const { deletedCount } = await call
      // Another search, or a second read of the list, may have found them before the call had ended.
      this.list.current.remove(new Set(ids), true)
      const words = `${plural(deletedCount, 'request')} moved to the recycle bin`
      if (deletedCount === 0) {
        // Deleted elsewhere, so that is not undone here.
        this.#take(made)
        toast(words)
      } else if (this.#made.includes(made)) this.#offer(made, words)
    } catch (error) {
      this.#take(made)
      from.putBack(rows, ids)
      toast(problemOf(error).detail)
    }
  }

  #offer(made: Deletion, words: string): void {
    made.closeNote = toast(words, { label: 'Undo', run: () => void this.undo(made) })
  }

  #take(made: Deletion): void {
    this.#made = this.#made.filter((one) => one !== made)
  }

  /**
   * Starts to delete more captures than one call takes.
   *
   * @param onGone called with each part of them that is deleted
   * @returns whether it has started
   */
  removeMany(chosen: Chosen, onGone: (ids: readonly number[]) => void): boolean {
    const { endpointId } = this
    const stream = this.list.current
    const isStarted = startBulk(endpointId, 'moved to the recycle bin', chosen, async (ids) => {
      const { deletedCount } = await creel.requests.bulkDelete.mutate({ endpointId, requestIds: [...ids] })
      const { current } = this.list
      current.remove(new Set(ids), current !== stream)
      onGone(ids)
      return { done: deletedCount, skipped: ids.length - deletedCount }
    })
    if (isStarted) this.#made = [...this.#made, null]
    return isStarted
  }

  /** Undoes a deletion, the latest by default, and reports captures that could not be restored. Never rejects. */
  async undo(made = this.#made.at(-1)): Promise<void> {
    if (made === null) toast('It can be restored from the recycle bin.')
    if (!made || !this.#made.includes(made)) return
    this.#take(made)
    made.closeNote()
    const deletedCount = await made.call.then(
      (answer) => answer.deletedCount,
      () => 0,
    )
    if (deletedCount === 0) return
    try {
      const { restoredCount, skippedAtCap } = await creel.recycleBin.restore.mutate({
        requestIds: [...made.ids],
      })
      const goneCount = made.ids.length - restoredCount - skippedAtCap
      const { current } = this.list
      if (restoredCount === made.ids.length && current === made.from) current.putBack(made.rows, made.ids)
      else await current.open()
      const left = skippedAtCap === 0 ? '' : `, ${skippedAtCap} not restored: the endpoint is full`
      const gone = goneCount > 0 ? `, ${goneCount} no longer in the recycle bin` : ''
      toast(`${plural(restoredCount, 'request')} restored${left}${gone}`)
    } catch (error) {
      this.#made = [...this.#made, made]
      this.#offer(made, problemOf(error).detail)
    }
  }
}
