import { describe, expect, test } from 'bun:test'
import { TRPCClientError } from '@trpc/client'
import type { RequestSummary } from '../trpc.ts'
import { BAR_MS, type Bar } from './bars.ts'
import type { Below, CaptureSource, Follower, Loaded } from './captureSource.ts'
import { CaptureStream, type Surroundings } from './captureStream.ts'

const row = (id: number, state: RequestSummary['state'] = 'NotAttempted'): RequestSummary => ({
  id,
  endpointId: 'e',
  receivedAt: new Date(id * 1000).toISOString(),
  method: 'POST',
  path: '',
  contentType: null,
  sizeBytes: 0,
  ip: null,
  userAgent: null,
  label: null,
  eventId: null,
  senderAttempt: null,
  firstRequestId: null,
  duplicateOf: null,
  redacted: false,
  redactedPaths: [],
  columns: {},
  note: null,
  redactionFault: null,
  sealed: false,
  shredded: false,
  answeredBy: null,
  reconciled: false,
  bodyTruncated: false,
  imported: false,
  bodyIsBinary: false,
  bodyPreview: null,
  verification: null,
  state,
  attemptCount: 0,
  deliveryCounts: { succeeded: 0, failed: 0, waiting: 0, deadLettered: 0 },
})

/** A stored list, a stream and a clock, all controlled by the test. */
class World implements CaptureSource {
  stored: RequestSummary[] = []
  follower: Follower | undefined
  followedAfter: number[] = []
  trafficFrom: number[] = []
  rejectedBefore: ReadonlyMap<number, number> = new Map()
  barsBefore: readonly Bar[] = []
  timers: { run: () => void; ms: number }[] = []
  isHidden = false
  connects = true
  /** Above this id, older captures take more than one call to search. */
  findsNothingDownTo = Number.POSITIVE_INFINITY
  status: number | undefined
  visibilityChanged = () => {}
  /** Runs after the newest page was read, before it is answered. */
  answering = () => {}
  /** Runs before a page of older captures is read. */
  answeringOlder = () => {}

  readonly surroundings: Surroundings = {
    later: (run, ms) => {
      const timer = { run, ms }
      this.timers.push(timer)
      return () => {
        this.timers = this.timers.filter((one) => one !== timer)
      }
    },
    random: () => 1,
    isHidden: () => this.isHidden,
    onVisibility: (run) => {
      this.visibilityChanged = run
      return () => {}
    },
    check: () => Promise.resolve(this.status),
    words: String,
  }

  async newest(limit: number) {
    const page = {
      items: this.stored.slice(0, limit),
      below: this.#belowLast(this.stored, limit),
      totalCount: this.stored.length,
      isEstimate: false,
      omitsSealed: false,
      lastId: this.stored[0]?.id ?? 0,
    }
    this.answering()
    return page
  }

  older(below: Below, limit: number): Promise<Loaded> {
    this.answeringOlder()
    const beforeId = 'beforeId' in below ? below.beforeId : Number(below.before)
    // Like a long search whose time is up.
    if (this.findsNothingDownTo < beforeId - 1) {
      return Promise.resolve({ items: [], below: { beforeId: this.findsNothingDownTo } })
    }
    const left = this.stored.filter(({ id }) => id < beforeId)
    return Promise.resolve({ items: left.slice(0, limit), below: this.#belowLast(left, limit) })
  }

  #belowLast(left: readonly RequestSummary[], limit: number): Below | null {
    const last = left[limit - 1]
    return last === undefined || left.length === limit ? null : { beforeId: last.id }
  }

  traffic(from: number) {
    this.trafficFrom.push(from)
    return Promise.resolve({ bars: this.barsBefore, rejected: this.rejectedBefore })
  }

  follow(afterId: number, follower: Follower) {
    this.followedAfter.push(afterId)
    this.follower = follower
    if (this.connects) follower.connected(true)
    return () => {
      this.follower = undefined
    }
  }

  arrive(...ids: number[]) {
    this.stored.unshift(...ids.map((id) => row(id)).reverse())
    this.follower?.hear({ kind: 'arrived', requests: ids.map((id) => row(id)), lastId: ids.at(-1) ?? 0 })
  }

  /** Runs the due timers, and all promises that follow. */
  async tick() {
    const due = this.timers
    this.timers = []
    for (const { run } of due) run()
    await Bun.sleep(0)
  }
}

async function opened(world: World) {
  const stream = new CaptureStream(world, world.surroundings)
  const leave = stream.subscribe(() => {})
  await Bun.sleep(0)
  return { stream, leave, ids: () => stream.get().rows.map(({ id }) => id) }
}

/** A list that was paused at its first row, and has heard that the service stores 4,000 requests. */
async function pausedInFlood() {
  const world = new World()
  world.arrive(1)
  const list = await opened(world)
  list.stream.setPaused(true)
  world.stored = [row(5000), row(4999)]
  world.follower?.hear({ kind: 'behind', lastId: 5000, requests: [row(4999), row(5000)], totalCount: 4000 })
  return { world, ...list }
}

describe('the list of captures', () => {
  test('shows what is stored, then what arrives, and follows from the newest', async () => {
    const world = new World()
    world.arrive(1, 2)
    const { ids, stream } = await opened(world)
    world.arrive(3)
    expect(ids()).toEqual([3, 2, 1])
    expect(world.followedAfter).toEqual([2])
    expect(stream.get()).toMatchObject({ connection: 'live', totalCount: 3, newFrom: 3 })
  })

  test('a stream that ends is opened anew where it ended, later and later, and nothing comes twice', async () => {
    const world = new World()
    world.arrive(1)
    const { ids } = await opened(world)
    world.connects = false
    const waits: number[] = []
    for (let at = 0; at < 6; at += 1) {
      world.follower?.ended(undefined)
      waits.push(world.timers[0]?.ms ?? 0)
      await world.tick()
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000])
    expect(world.followedAfter).toEqual([1, 1, 1, 1, 1, 1, 1])
    world.follower?.hear({ kind: 'arrived', requests: [row(1), row(2)], lastId: 2 })
    expect(ids()).toEqual([2, 1])
  })

  test('asks to sign in again and does not come back once the session has ended', async () => {
    const world = new World()
    const { stream } = await opened(world)
    world.status = 401
    world.follower?.ended(undefined)
    await world.tick()
    expect(stream.get().connection).toBe('lost')
    expect(world.timers).toHaveLength(0)
  })

  test('a flood is gathered, and every id of it is kept', async () => {
    const world = new World()
    const { ids } = await opened(world)
    for (let first = 1; first <= 2000; first += 100) {
      world.arrive(...Array.from({ length: 100 }, (_, at) => first + at))
    }
    expect(ids().length).toBeLessThan(200)
    await world.tick()
    expect(ids()).toEqual(Array.from({ length: 2000 }, (_, at) => 2000 - at))
  })

  test('paused, it holds what arrives, counts it, and shows it in order', async () => {
    const world = new World()
    const { ids, stream } = await opened(world)
    stream.setPaused(true)
    world.arrive(1)
    world.arrive(2)
    expect(ids()).toEqual([])
    expect(stream.get().held).toBe(2)
    stream.setPaused(false)
    expect(ids()).toEqual([2, 1])
  })

  test('a deleted row leaves at once, and can be put back in its place', async () => {
    const world = new World()
    world.arrive(1, 2, 3)
    const { ids, stream } = await opened(world)
    const gone = stream.remove(new Set([2]))
    expect(ids()).toEqual([3, 1])
    expect(stream.get().totalCount).toBe(2)
    stream.putBack(gone, [2])
    expect(ids()).toEqual([3, 2, 1])
    expect(stream.get().totalCount).toBe(3)
  })

  test('a row that is deleted while the list is read anew does not come back', async () => {
    const world = new World()
    world.arrive(1, 2, 3)
    const { ids, stream } = await opened(world)
    world.answering = () => stream.remove(new Set([2]))
    await stream.open()
    expect([ids(), stream.get().totalCount]).toEqual([[3, 1], 2])
  })

  test('a row that is put back below the loaded ones hides none between', async () => {
    const world = new World()
    world.arrive(...Array.from({ length: 150 }, (_, at) => at + 1))
    const { ids, stream } = await opened(world)
    await stream.loadOlder()
    const gone = stream.remove(new Set([40]))
    await stream.open()
    stream.putBack(gone, [40])
    await stream.loadOlder()
    expect(ids()).toEqual(Array.from({ length: 150 }, (_, at) => 150 - at))
  })

  test('a row that was not loaded when it was deleted is loaded once it is put back', async () => {
    const world = new World()
    world.arrive(...Array.from({ length: 150 }, (_, at) => at + 1))
    const { ids, stream } = await opened(world)
    const gone = stream.remove(new Set([40]))
    expect([gone, stream.get().totalCount]).toEqual([[], 149])
    stream.putBack(gone, [40])
    expect(stream.get().totalCount).toBe(150)
    await stream.loadOlder()
    expect(ids()).toEqual(Array.from({ length: 150 }, (_, at) => 150 - at))
  })

  test('a list without subscribers is not opened', async () => {
    const world = new World()
    const { leave, stream } = await opened(world)
    leave()
    await stream.open()
    expect([world.follower, world.followedAfter]).toEqual([undefined, [0]])
  })

  test.each([
    [403, 0],
    [429, 1],
    [503, 1],
  ])(
    'a list whose reading is refused with %d is read again only if that may pass',
    async (httpStatus, again) => {
      const world = new World()
      world.answering = () => {
        throw TRPCClientError.from({ error: { message: 'no', code: -32000, data: { httpStatus } } })
      }
      const { stream } = await opened(world)
      expect(stream.get().connection).toBe(again === 0 ? 'lost' : 'connecting')
      expect(world.timers).toHaveLength(again)
    },
  )

  test('a list that could not be read is read again, later and later', async () => {
    const world = new World()
    world.arrive(1)
    world.answering = () => {
      throw new Error('gone')
    }
    const { ids, stream } = await opened(world)
    expect(stream.get()).toMatchObject({ isLoading: false, problem: 'Error: gone' })
    const waits = []
    for (let at = 0; at < 3; at += 1) {
      waits.push(...world.timers.map(({ ms }) => ms))
      await world.tick()
    }
    expect(waits).toEqual([1000, 2000, 4000])
    world.answering = () => {}
    await world.tick()
    expect([ids(), stream.get().problem, stream.get().connection]).toEqual([[1], null, 'live'])
  })

  test('without a row to scroll to, older ones that could not be read are read again', async () => {
    const world = new World()
    world.arrive(...Array.from({ length: 150 }, (_, at) => at + 1))
    const { ids, stream } = await opened(world)
    world.answeringOlder = () => {
      stream.remove(new Set(ids()))
      throw new Error('gone')
    }
    await stream.loadOlder()
    expect(ids()).toEqual([])
    world.answeringOlder = () => {}
    await world.tick()
    expect(ids()).toEqual(Array.from({ length: 50 }, (_, at) => 50 - at))
  })

  test('without a row, older ones that came too late for a list read anew are read again', async () => {
    const world = new World()
    world.arrive(...Array.from({ length: 150 }, (_, at) => at + 1))
    const { ids, stream } = await opened(world)
    world.answering = () => stream.remove(new Set(ids()))
    world.answeringOlder = () => {
      world.answeringOlder = () => {}
      void stream.open()
    }
    await stream.loadOlder()
    await Bun.sleep(0)
    expect(ids()).toEqual(Array.from({ length: 50 }, (_, at) => 50 - at))
  })

  test('too far behind, it reads the newest page anew and goes on from there', async () => {
    const world = new World()
    world.arrive(1)
    const { ids } = await opened(world)
    world.stored = [row(5000), row(4999)]
    world.follower?.hear({ kind: 'behind', lastId: 5000 })
    await Bun.sleep(0)
    expect(ids()).toEqual([5000, 4999])
    expect(world.followedAfter.at(-1)).toBe(5000)
  })

  test('in a flood it shows the newest that it is sent, and goes on with its stream', async () => {
    const world = new World()
    world.arrive(1)
    const { stream, ids } = await opened(world)
    world.follower?.hear({ kind: 'behind', lastId: 5000, requests: [row(4999), row(5000)], totalCount: 4000 })
    expect(ids()).toEqual([5000, 4999])
    expect(stream.get()).toMatchObject({ totalCount: 4000, below: { beforeId: 4999 } })
    expect(world.followedAfter).toEqual([1])
    world.follower?.hear({ kind: 'arrived', requests: [row(5001)], lastId: 5001 })
    expect(ids()).toEqual([5001, 5000, 4999])
  })

  test.each([
    ['the newest', { requests: [row(4999), row(5000)], totalCount: 4000 }, 3999],
    ['nothing', {}, 1],
  ])(
    'paused in a flood of which it is sent %s, it keeps its rows, and shows the newest when it goes on',
    async (_, sent, held) => {
      const world = new World()
      world.arrive(1)
      const { stream, ids } = await opened(world)
      stream.setPaused(true)
      world.follower?.hear({ kind: 'behind', lastId: 5000, ...sent })
      await Bun.sleep(0)
      expect(ids()).toEqual([1])
      expect(stream.get()).toMatchObject({ isPaused: true, held })
      world.follower?.hear({ kind: 'arrived', requests: [row(5001)], lastId: 5001 })
      expect(stream.get().held).toBe(held + 1)
      expect(ids()).toEqual([1])
      world.stored = [row(5001), row(5000), row(4999)]
      stream.setPaused(false)
      await Bun.sleep(0)
      expect(ids()).toEqual([5001, 5000, 4999])
      expect(stream.get().held).toBe(0)
      world.arrive(5002)
      expect(ids()).toEqual([5002, 5001, 5000, 4999])
    },
  )

  test('what arrives while a paused list is read anew is shown once it is asked for again', async () => {
    const { world, stream, ids } = await pausedInFlood()
    world.answering = () => world.arrive(5001)
    stream.setPaused(false)
    await Bun.sleep(0)
    expect(stream.get()).toMatchObject({ isPaused: false, held: 0 })
    expect(world.followedAfter.at(-1)).toBe(5000)
    world.follower?.hear({ kind: 'arrived', requests: [row(5001)], lastId: 5001 })
    expect(ids()).toEqual([5001, 5000, 4999])
  })

  test('paused in a flood, it stays paused where its rows cannot be read, and counts on', async () => {
    const { world, stream, ids } = await pausedInFlood()
    world.answering = () => {
      throw new Error('gone')
    }
    stream.setPaused(false)
    await Bun.sleep(0)
    expect(stream.get()).toMatchObject({ isPaused: true, held: 3999, problem: 'Error: gone' })
    world.arrive(5001)
    expect([ids(), stream.get().held]).toEqual([[1], 4000])
    world.answering = () => {}
    stream.setPaused(false)
    await Bun.sleep(0)
    expect(ids()).toEqual([5001, 5000, 4999])
    expect(stream.get()).toMatchObject({ isPaused: false, held: 0, problem: null })
  })

  test('too far behind, it follows from where its rows end if it cannot read the newest page', async () => {
    const world = new World()
    world.arrive(1)
    const { stream, ids } = await opened(world)
    world.answering = () => {
      throw new Error('gone')
    }
    world.follower?.hear({ kind: 'behind', lastId: 5000 })
    world.follower?.hear({ kind: 'arrived', requests: [row(5001)], lastId: 5001 })
    await Bun.sleep(0)
    expect([ids(), stream.get().problem]).toEqual([[1], 'Error: gone'])
    await world.tick()
    expect(world.followedAfter).toEqual([1, 1])
  })

  test('a hidden page lets its stream go, and catches up when it is shown', async () => {
    const world = new World()
    world.arrive(1)
    await opened(world)
    world.isHidden = true
    world.visibilityChanged()
    await world.tick()
    expect(world.follower).toBeUndefined()
    world.isHidden = false
    world.visibilityChanged()
    expect(world.followedAfter).toEqual([1, 1])
  })

  test('states change where they stand, also in what is held', async () => {
    const world = new World()
    world.arrive(1)
    const { stream } = await opened(world)
    stream.setPaused(true)
    world.arrive(2)
    const counts = { succeeded: 1, failed: 1, waiting: 0, deadLettered: 0 }
    world.follower?.hear({
      kind: 'changed',
      states: [1, 2].map((id) => ({
        id,
        state: 'Succeeded' as const,
        attemptCount: 2,
        deliveryCounts: counts,
      })),
    })
    stream.setPaused(false)
    expect(
      stream
        .get()
        .rows.map(({ state, attemptCount, deliveryCounts }) => [state, attemptCount, deliveryCounts]),
    ).toEqual([
      ['Succeeded', 2, counts],
      ['Succeeded', 2, counts],
    ])
  })

  test('what does not match is counted, and not asked for again', async () => {
    const world = new World()
    world.arrive(1)
    const { stream } = await opened(world)
    world.follower?.hear({ kind: 'passed', count: 3, lastId: 9 })
    expect([stream.get().others, stream.get().rows.length]).toEqual([3, 1])
    world.follower?.ended(undefined)
    await world.tick()
    expect(world.followedAfter.at(-1)).toBe(9)
  })

  test('older rows are loaded below, once each', async () => {
    const world = new World()
    world.arrive(...Array.from({ length: 250 }, (_, at) => at + 1))
    const { ids, stream } = await opened(world)
    await Promise.all([stream.loadOlder(), stream.loadOlder()])
    await stream.loadOlder()
    await stream.loadOlder()
    expect(ids()).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at))
  })

  test('a search that has found none yet goes on below', async () => {
    const world = new World()
    world.arrive(...Array.from({ length: 150 }, (_, at) => at + 1))
    const { ids, stream } = await opened(world)
    world.findsNothingDownTo = 40
    await stream.loadOlder()
    expect([ids().length, stream.get().below]).toEqual([100, { beforeId: 40 }])
    await stream.loadOlder()
    expect([ids().at(-1), ids().length, stream.get().below]).toEqual([1, 139, null])
  })

  test('the bars go on before the page that was loaded, and nothing is counted twice', async () => {
    const world = new World()
    const now = Math.floor(Date.now() / BAR_MS)
    const at = (bar: number, id: number) => ({ ...row(id), receivedAt: new Date(bar * BAR_MS).toISOString() })
    world.stored = Array.from({ length: 150 }, (_, index) => at(now - Math.floor(index / 50), 150 - index))
    world.barsBefore = [
      { at: now - 2, good: 50, bad: 0 },
      { at: now - 1, good: 49, bad: 1 },
      { at: now, good: 50, bad: 0 },
    ]
    const { stream } = await opened(world)
    // The page ends with the fifty of the bar before.
    expect(stream.get().bars).toEqual([
      { at: now, good: 50, bad: 0 },
      { at: now - 1, good: 49, bad: 1 },
      { at: now - 2, good: 50, bad: 0 },
    ])
    const quiet = new World()
    quiet.arrive(1)
    quiet.barsBefore = [{ at: now, good: 7, bad: 0 }]
    quiet.rejectedBefore = new Map([[now - 1, 12]])
    const { stream: all } = await opened(quiet)
    expect(all.get().bars).toEqual([{ at: 0, good: 1, bad: 0 }])
    expect([...all.get().rejectedBefore]).toEqual([[now - 1, 12]])
  })
})
