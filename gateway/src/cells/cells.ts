import type { Services } from '@creel/core'
import type { Captures } from '@creel/core/capture'
import type { CellPlace } from '@creel/core/cells'
import { setNewest } from '@creel/core/platform/memory'
import { within } from '@creel/core/platform/time'

/** Cache of the cells of callers. */
interface CellMemory {
  /** The number of the cell that knew a handle; undefined if that is not remembered. */
  cellOf(handle: string): number | undefined
  remember(handle: string, cell: number): void
  forget(handle: string): void
  /** Negative cache: whether no cell knew a handle a few seconds ago. */
  isUnknown(handle: string): boolean
  /** The cell that did not answer then, if one did not; undefined otherwise. */
  unansweredOf(handle: string): number | undefined
  /** @param unanswered number of a cell that did not answer; null if every cell did */
  rememberUnknown(handle: string, unanswered: number | null): void
}

/** The most handles of each kind: about 10 MB. */
const KNOWN_MAX = 50_000
const UNKNOWN_MAX = 10_000
/** Time for which an answer counts, in milliseconds. */
const KNOWN_MS = 30_000
const UNKNOWN_MS = 3_000

/** Creates a memory of bounded size. Old answers are forgotten: a workspace may have moved. */
export function createMemory(now: () => number = () => performance.now()): CellMemory {
  const known = new Map<string, { readonly cell: number; readonly until: number }>()
  const unknown = new Map<string, { readonly unanswered: number | null; readonly until: number }>()
  const unknownNow = (handle: string) => {
    const entry = unknown.get(handle)
    return entry === undefined || entry.until < now() ? undefined : entry
  }
  return {
    cellOf(handle) {
      const entry = known.get(handle)
      if (entry === undefined || entry.until < now()) return undefined
      return entry.cell
    },
    remember(handle, cell) {
      unknown.delete(handle)
      setNewest(known, handle, { cell, until: now() + KNOWN_MS }, KNOWN_MAX)
    },
    forget: (handle) => void known.delete(handle),
    isUnknown: (handle) => unknownNow(handle)?.unanswered === null,
    unansweredOf: (handle) => unknownNow(handle)?.unanswered ?? undefined,
    rememberUnknown: (handle, unanswered) =>
      setNewest(unknown, handle, { unanswered, until: now() + UNKNOWN_MS }, UNKNOWN_MAX),
  }
}

/** A cell that this process reaches. */
export interface OpenCell {
  readonly services: Services
  readonly captures: Captures
  /** Answers a request whose caller belongs to the cell. */
  readonly handle: (request: Request) => Promise<Response>
}

export interface Cells {
  /** Every cell of the installation, open or not. */
  readonly places: readonly CellPlace[]
  /** The cells that are reached; fewer than the places while one is not. */
  open(): readonly OpenCell[]
  of(number: number): OpenCell | undefined
  /**
   * The cell with a number, as {@link of}. After a start it waits until the cell is open, or is known to be out of reach.
   */
  opened(number: number): Promise<OpenCell | undefined>
  /** Takes requests for a cell from now on. */
  add(number: number, cell: OpenCell): void
  /** Notes whether a cell can be reached. Until it can, its requests are answered 503 at once. */
  setReach(number: number, isReachable: boolean): void
}

/** Creates the register of the cells, none of them open. */
export function createCells(places: readonly CellPlace[]): Cells {
  const open = new Map<number, OpenCell>()
  const outOfReach = new Set<number>()
  const started = new Map(places.map(({ number }) => [number, Promise.withResolvers<void>()]))
  const of = (number: number) => (outOfReach.has(number) ? undefined : open.get(number))
  return {
    places,
    open: () => [...open].flatMap(([number, cell]) => (outOfReach.has(number) ? [] : [cell])),
    of,
    async opened(number) {
      await started.get(number)?.promise
      return of(number)
    },
    add(number, cell) {
      open.set(number, cell)
      started.get(number)?.resolve()
    },
    setReach(number, isReachable) {
      if (isReachable) outOfReach.delete(number)
      else outOfReach.add(number)
      started.get(number)?.resolve()
    },
  }
}

/** Seconds after which a caller whose cell is out of reach may try again. */
export const RETRY_SECONDS = 2

/** A cell did not answer, so nothing can be said about a caller that no other cell knows. */
export class CellOutOfReach extends Error {
  override readonly name = 'CellOutOfReach'
  /** The SQLSTATE `cannot_connect_now`: it is an outage of a database. */
  readonly code = '57P03'

  constructor(
    readonly place: CellPlace,
    options?: ErrorOptions,
  ) {
    super(`The cell "${place.name}" is out of reach.`, options)
  }
}

export interface Answered<Answer> {
  readonly cell: OpenCell
  readonly answer: Answer
}

/**
 * Timeout of a cell's answer, in milliseconds: one hanging server does not delay unknown callers for longer.
 */
export const ANSWER_MS = 5_000

/**
 * Asks the cell of a hint first, then all others at once, until one knows what is asked for.
 *
 * @param hint number of a cell, or null
 * @param ask its result is undefined when the cell does not know what is asked for
 * @returns undefined when every cell has answered, and none knows it
 * @throws CellOutOfReach when no cell knows it, and one did not answer
 */
async function askCells<Answer>(
  cells: Cells,
  hint: number | null,
  ask: (cell: OpenCell) => Promise<Answer | undefined>,
): Promise<Answered<Answer> | undefined> {
  const askOne = async (place: CellPlace): Promise<Answered<Answer> | undefined> => {
    const cell = await within(cells.opened(place.number), ANSWER_MS)
    if (cell === undefined) throw new CellOutOfReach(place)
    const answered = ask(cell).then(
      (answer) => ({ answer }),
      (cause: unknown) => ({ cause }),
    )
    const outcome = (await within(answered, ANSWER_MS)) ?? { cause: undefined }
    if ('cause' in outcome) throw new CellOutOfReach(place, { cause: outcome.cause })
    return outcome.answer === undefined ? undefined : { cell, answer: outcome.answer }
  }
  const first = cells.places.filter(({ number }) => number === hint)
  const others = cells.places.filter(({ number }) => number !== hint)
  const faults: unknown[] = []
  for (const together of [first, others]) {
    const found = await firstToKnow(together.map(askOne), faults)
    if (found !== undefined) return found
  }
  const [fault] = faults
  if (fault !== undefined) throw fault
  return undefined
}

/**
 * {@link askCells} through a memory. Something that is unknown to all cells is asked for twice: cells answer at different
 * moments, so the first time all may miss a workspace that moves. Callers of a cell that is out of reach do not make the
 * others look for them each time: their answer counts for some seconds, while that cell is out of reach.
 *
 * @param handle of what is asked for in the memory
 * @param ask also told whether it is the second time
 * @throws CellOutOfReach as askCells does
 */
export async function askTwice<Answer>(
  { cells, memory }: { readonly cells: Cells; readonly memory: CellMemory },
  { handle, hint }: { readonly handle: string; readonly hint: number | null },
  ask: (cell: OpenCell, isAgain: boolean) => Promise<Answer | undefined>,
): Promise<Answered<Answer> | undefined> {
  const unanswered = memory.unansweredOf(handle)
  const place = cells.places.find(({ number }) => number === unanswered)
  if (place !== undefined && cells.of(place.number) === undefined) throw new CellOutOfReach(place)
  try {
    const found =
      (await askCells(cells, hint, (cell) => ask(cell, false))) ??
      (await askCells(cells, null, (cell) => ask(cell, true)))
    if (found === undefined) memory.rememberUnknown(handle, null)
    return found
  } catch (error) {
    if (error instanceof CellOutOfReach) memory.rememberUnknown(handle, error.place.number)
    throw error
  }
}

/** Waits for the first defined answer, or for all. Errors are added to `faults`. */
async function firstToKnow<Answer>(
  answers: readonly Promise<Answer | undefined>[],
  faults: unknown[],
): Promise<Answer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
  const settled = answers.map((answer) =>
    answer.then(
      (known) => {
        if (known !== undefined) resolve(known)
      },
      (fault: unknown) => void faults.push(fault),
    ),
  )
  void Promise.all(settled).then(() => resolve(undefined))
  return await promise
}
