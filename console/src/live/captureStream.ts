import { reconnectMs } from '../outage.ts'
import { Store } from '../store.ts'
import { mayPass, type RequestSummary } from '../trpc.ts'
import { BAR_MS, BARS, type Bar, continued, counted, type RejectedBars } from './bars.ts'
import type { Below, CaptureSource, FollowEvent, RequestOutcome, Traffic } from './captureSource.ts'

/** Index of an id among rows, or where it would be inserted; the ids are in descending order. */
export function placeOf(rows: readonly { readonly id: number }[], id: number): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((rows[middle]?.id ?? 0) > id) from = middle + 1
    else to = middle
  }
  return from
}

/** Rows and more of them, newest first, each once. */
function merged(rows: readonly RequestSummary[], more: readonly RequestSummary[]): readonly RequestSummary[] {
  const there = new Set(rows.map(({ id }) => id))
  const fresh = more.filter(({ id }) => !there.has(id))
  return [...rows, ...fresh].sort((left, right) => right.id - left.id)
}

export interface Captures {
  /** Newest first. */
  readonly rows: readonly RequestSummary[]
  /** Number of stored captures that match. */
  readonly totalCount: number
  /** A long search has not looked through all that is stored: `totalCount` is an estimate until all rows are loaded. */
  readonly isEstimate: boolean
  /** Whether text was searched that is encrypted in some captures, which the search does not find. */
  readonly omitsSealed: boolean
  /** Number of captures since the list was opened that do not match. */
  readonly others: number
  readonly isLoading: boolean
  /** Position of the next page below the rows; null when all are loaded. */
  readonly below: Below | null
  /** Why the list cannot be shown. */
  readonly problem: string | null
  readonly connection: 'connecting' | 'live' | 'lost'
  readonly isPaused: boolean
  /** Arrived while paused. */
  readonly held: number
  /** Ids from this one on arrived while the list was open. During a flood no row counts as new. */
  readonly newFrom: number
  readonly bars: readonly Bar[]
  /** Captures that were refused before the list was opened. */
  readonly rejectedBefore: RejectedBars
}

const NO_TRAFFIC: Traffic = { bars: [], rejected: new Map() }

/** The parts of the browser that the stream uses; replaced in tests. */
export interface Surroundings {
  later(run: () => void, ms: number): () => void
  /** Between 0 and 1. */
  random(): number
  isHidden(): boolean
  /** Calls back when the page is hidden or shown. */
  onVisibility(run: () => void): () => void
  /** The status of a call that needs a session; undefined when it succeeded or got no answer. */
  check(): Promise<number | undefined>
  words(error: unknown): string
}

/**
 * More captures than this within {@link FLOOD_MS} are a flood: the list updates four times a second, and rows do not
 * glow.
 */
const FLOOD = 10
const FLOOD_MS = 250
/** A browser has six connections to a host over HTTP/1.1, for all its tabs, so hidden tabs close theirs. */
const HIDDEN_MS = 10_000
/** Older rows are dropped; they can be loaded again. */
const ROWS_MAX = 10_000
const PAGE = 100
const AGAIN_MS = 4_000
const NOTHING = () => {}

const NONE: Captures = {
  rows: [],
  totalCount: 0,
  isEstimate: false,
  omitsSealed: false,
  others: 0,
  isLoading: true,
  below: null,
  problem: null,
  connection: 'connecting',
  isPaused: false,
  held: 0,
  newFrom: Number.POSITIVE_INFINITY,
  bars: [],
  rejectedBefore: new Map(),
}

/** The captures that match: the stored ones, then the live ones. Runs while it has subscribers. */
export class CaptureStream extends Store<Captures> {
  #held: readonly RequestSummary[] = []
  /** Number of captures that arrived while paused and were not sent. */
  #missed = 0
  #waiting: readonly RequestSummary[] = []
  #newest = 0
  #failures = 0
  #isAway = false
  #isWatched = false
  #isLoadingOlder = false
  /** Ids that were deleted since the list was read. Answers that are under way may still have them. */
  readonly #removed = new Set<number>()
  #leaveSource = NOTHING
  #leaveVisibility = () => {}
  #cancelHiding = () => {}
  #cancelShow: (() => void) | undefined
  /** Counts openings, so that late answers can be discarded. */
  #opening = 0

  constructor(
    readonly source: CaptureSource,
    readonly surroundings: Surroundings,
  ) {
    super(NONE)
  }

  protected override watched(): void {
    this.#isWatched = true
    this.#leaveVisibility = this.surroundings.onVisibility(() => this.#onVisibility())
    if (this.get().isLoading) void this.open()
    else this.#follow()
  }

  protected override unwatched(): void {
    this.#isWatched = false
    this.#leaveVisibility()
    this.#cancelHiding()
    this.#opening += 1
    this.#stop()
  }

  find(id: number | undefined): RequestSummary | undefined {
    if (id === undefined) return undefined
    const { rows } = this.get()
    const at = placeOf(rows, id)
    return rows[at]?.id === id ? rows[at] : undefined
  }

  /**
   * Loads the newest page and follows from there; a no-op without subscribers. Never rejects.
   *
   * @param keepsBars in a flood: to count five minutes again for each page would cost more than the flood
   * @param resumes whether a paused list goes on once its rows are loaded
   */
  async open({ keepsBars = false, resumes = false } = {}): Promise<void> {
    if (!this.#isWatched) return
    const opening = ++this.#opening
    this.#removed.clear()
    try {
      const page = await this.source.newest(PAGE)
      if (opening !== this.#opening) return
      const { below, lastId, isEstimate, omitsSealed } = page
      const items = this.#left(page.items)
      // Captures that were heard meanwhile are not among these rows: the stream sends them again.
      this.#newest = lastId
      this.#waiting = []
      this.#held = []
      this.#missed = 0
      this.#change({
        rows: items,
        below,
        totalCount: page.totalCount - (page.items.length - items.length),
        isEstimate,
        omitsSealed,
        others: 0,
        isLoading: false,
        problem: null,
        held: 0,
        newFrom: lastId + 1,
        ...(resumes && { isPaused: false }),
        bars: counted(keepsBars ? this.get().bars : [], items),
      })
      this.#follow()
      if (!keepsBars) void this.#completeBars(opening, items, below === null)
    } catch (error) {
      if (opening === this.#opening) {
        this.#change({ isLoading: false, problem: this.surroundings.words(error), connection: 'lost' })
        if (this.#leaveSource === NOTHING && mayPass(error)) this.#comeBack(undefined, () => void this.open())
      }
    }
  }

  /**
   * The loaded page may begin within the bars. The service counts the part before it, and the refused captures. Never
   * rejects.
   */
  async #completeBars(
    opening: number,
    items: readonly RequestSummary[],
    isEverything: boolean,
  ): Promise<void> {
    const first = Math.floor(Date.now() / BAR_MS) - BARS + 1
    const { bars, rejected } = await this.source.traffic(first * BAR_MS).catch(() => NO_TRAFFIC)
    if (opening !== this.#opening) return
    const oldest = items.at(-1)
    const oldestAt = oldest === undefined ? 0 : Math.floor(Date.parse(oldest.receivedAt) / BAR_MS)
    this.#change({
      rejectedBefore: rejected,
      ...(!isEverything && { bars: continued(this.get().bars, bars, oldestAt) }),
    })
  }

  /** Pauses, which holds new captures back, or resumes, which shows them, as soon as those that were missed are read. */
  setPaused(isPaused: boolean): void {
    if (this.#missed > 0) {
      void this.open({ keepsBars: true, resumes: !isPaused })
      return
    }
    const held = this.#held
    this.#held = []
    this.#change({ isPaused, held: 0 })
    if (held.length > 0) this.#add(held)
  }

  /** Loads the next page below; a no-op when all rows are loaded. Never rejects. */
  async loadOlder(): Promise<void> {
    const { below: from, rows: shown } = this.get()
    if (this.#isLoadingOlder || from === null || shown.length >= ROWS_MAX) return
    this.#isLoadingOlder = true
    const opening = this.#opening
    const isLate = () => opening !== this.#opening || this.get().below !== from
    try {
      const { items, below } = await this.source.older(from, PAGE)
      // Rows were dropped while this page loaded. Discard it; the next call reloads from there.
      if (isLate()) return
      const rows = merged(this.get().rows, this.#left(items))
      const { totalCount, isEstimate } = this.get()
      const isCounted = isEstimate && below === null
      this.#change({
        rows,
        below,
        totalCount: isCounted ? rows.length : Math.max(rows.length, totalCount),
        isEstimate: isEstimate && !isCounted,
      })
    } catch (error) {
      // The next scroll tries again. A list without rows cannot be scrolled, so try by timer.
      const again = () => void (opening === this.#opening && this.loadOlder())
      if (this.get().rows.length === 0 && mayPass(error)) this.surroundings.later(again, AGAIN_MS)
    } finally {
      this.#isLoadingOlder = false
      // The list may have asked meanwhile, and without rows it asks only once.
      if (this.#isWatched && isLate() && this.get().rows.length === 0) void this.loadOlder()
    }
  }

  /**
   * Removes deleted rows at once.
   *
   * @param isLate whether the list may have been read without them: then only those that it has are taken off its count
   * @returns the removed rows
   */
  remove(ids: ReadonlySet<number>, isLate = false): readonly RequestSummary[] {
    const gone = this.get().rows.filter(({ id }) => ids.has(id))
    for (const id of ids) this.#removed.add(id)
    const rows = this.#left(this.get().rows)
    this.#waiting = this.#left(this.#waiting)
    this.#held = this.#left(this.#held)
    this.#change({
      rows,
      totalCount: Math.max(rows.length, this.get().totalCount - (isLate ? gone.length : ids.size)),
    })
    return gone
  }

  /** Restores removed rows to their places, and lets those of the ids that were not loaded be loaded. */
  putBack(gone: readonly RequestSummary[], ids: readonly number[]): void {
    for (const id of ids) this.#removed.delete(id)
    const back = ids.filter((id) => this.find(id) === undefined)
    const { rows, totalCount } = this.get()
    this.#change({ rows: merged(rows, gone), totalCount: totalCount + back.length })
  }

  /** Rows without those that were deleted. */
  #left(rows: readonly RequestSummary[]): readonly RequestSummary[] {
    return rows.filter(({ id }) => !this.#removed.has(id))
  }

  #follow(): void {
    this.#stop()
    if (this.surroundings.isHidden()) {
      this.#isAway = true
      return
    }
    this.#leaveSource = this.source.follow(this.#newest, {
      hear: (event) => this.#hear(event),
      connected: (isLive) => {
        if (isLive) this.#failures = 0
        this.#change({ connection: isLive ? 'live' : 'connecting', ...(isLive ? { problem: null } : {}) })
      },
      ended: (status) => this.#comeBack(status),
    })
  }

  #stop(): void {
    this.#leaveSource()
    this.#leaveSource = NOTHING
  }

  /** Goes on after a wait: follows again, unless told otherwise. */
  #comeBack(status: number | undefined, go = () => this.#follow()): void {
    this.#stop()
    if (status === 404) {
      this.#change({ problem: 'This endpoint was deleted.', connection: 'lost' })
      return
    }
    this.#change({ connection: 'connecting' })
    const most = reconnectMs(this.#failures++)
    this.#leaveSource = this.surroundings.later(
      () => {
        this.#leaveSource = NOTHING
        void this.#askAnd(go)
      },
      most * (0.5 + this.surroundings.random() / 2),
    )
  }

  /** A refused stream gives no reason, so a call finds it. */
  async #askAnd(go: () => void): Promise<void> {
    const opening = this.#opening
    const status = await this.surroundings.check()
    if (opening !== this.#opening) return
    if (status === 401) this.#change({ connection: 'lost' })
    else go()
  }

  #onVisibility(): void {
    this.#cancelHiding()
    if (this.surroundings.isHidden()) {
      this.#cancelHiding = this.surroundings.later(() => {
        this.#isAway = true
        this.#stop()
      }, HIDDEN_MS)
    } else if (this.#isAway) {
      this.#isAway = false
      this.#follow()
    }
  }

  #hear(event: FollowEvent): void {
    if (event.kind === 'changed') this.mark(event.states)
    else if (event.kind === 'passed') {
      this.#newest = Math.max(this.#newest, event.lastId)
      this.#change({ others: this.get().others + event.count })
    } else if (event.kind === 'behind') {
      const { isPaused } = this.get()
      if (isPaused || event.requests !== undefined) this.#newest = Math.max(this.#newest, event.lastId)
      if (isPaused) this.#miss(event.totalCount)
      else if (event.requests === undefined) {
        // If the page cannot be read, the stream must go on where the rows end.
        this.#stop()
        void this.open({ keepsBars: true }).then(() => {
          if (this.get().problem !== null) this.#comeBack(undefined)
        })
      } else this.#replace(event.requests.toReversed(), event.totalCount)
    } else {
      const fresh = event.requests.filter(({ id }) => id > this.#newest).toReversed()
      this.#newest = Math.max(this.#newest, event.lastId, fresh[0]?.id ?? 0)
      if (fresh.length === 0) return
      if (!this.get().isPaused) {
        this.#add(fresh)
        return
      }
      this.#held = [...fresh, ...this.#held].slice(0, ROWS_MAX)
      this.#change({ held: this.#held.length + this.#missed })
    }
  }

  /** A flood while paused: what is stored more than is shown is only counted. Without a total, it is at least one. */
  #miss(totalCount: number | undefined): void {
    const more = (totalCount ?? 0) - this.get().totalCount
    this.#held = []
    this.#missed = Math.max(this.get().held, more, 1)
    this.#change({ held: this.#missed })
  }

  /** Gives rows what has changed of them. */
  mark(states: readonly (RequestOutcome & Partial<RequestSummary>)[]): void {
    const rows = [...this.get().rows]
    const now = new Map(states.map((one) => [one.id, one]))
    const marked = (row: RequestSummary) => (now.has(row.id) ? { ...row, ...now.get(row.id) } : row)
    for (const { id } of states) {
      const at = placeOf(rows, id)
      const row = rows[at]
      if (row?.id === id) rows[at] = marked(row)
    }
    this.#waiting = this.#waiting.map(marked)
    this.#held = this.#held.map(marked)
    this.#change({ rows })
  }

  /** A flood: the rows become these newest captures. Captures between them and the former rows were not sent. */
  #replace(rows: readonly RequestSummary[], totalCount = rows.length): void {
    this.#waiting = []
    this.#held = []
    const oldest = rows.at(-1)
    this.#change({
      rows,
      below: oldest === undefined ? null : { beforeId: oldest.id },
      totalCount,
      held: 0,
      newFrom: Number.POSITIVE_INFINITY,
      bars: counted(this.get().bars, rows),
    })
  }

  #add(fresh: readonly RequestSummary[]): void {
    this.#waiting = [...fresh, ...this.#waiting]
    if (this.#waiting.length <= FLOOD && this.#cancelShow === undefined) {
      this.#show(false)
      return
    }
    this.#cancelShow ??= this.surroundings.later(() => {
      this.#cancelShow = undefined
      this.#show(true)
    }, FLOOD_MS)
  }

  #show(isFlood: boolean): void {
    const fresh = this.#waiting
    this.#waiting = []
    const now = this.get()
    const rows = fresh.concat(now.rows)
    const oldest = rows.length > ROWS_MAX ? rows[ROWS_MAX - 1] : undefined
    rows.length = Math.min(rows.length, ROWS_MAX)
    const newFrom = Math.min(now.newFrom, fresh.at(-1)?.id ?? Number.POSITIVE_INFINITY)
    this.#change({
      rows,
      ...(oldest === undefined ? {} : { below: { beforeId: oldest.id } }),
      newFrom: isFlood ? Number.POSITIVE_INFINITY : newFrom,
      totalCount: now.totalCount + fresh.length,
      bars: counted(now.bars, fresh),
    })
  }

  #change(change: Partial<Captures>): void {
    this.set({ ...this.get(), ...change })
  }
}
