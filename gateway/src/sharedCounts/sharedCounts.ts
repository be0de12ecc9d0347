/**
 * Counts that the gateway processes of one program share, so that a limit holds for all of them together. The system
 * decides which process gets a connection. A limit that each process held for its part would refuse clients whose
 * connections happen to meet in one of them.
 */
export interface SharedCounts {
  /** Gateway processes of the program, this one included. */
  readonly processes: number
  /**
   * Shares one limit. To be called once for each name.
   *
   * @param name without a colon
   */
  share(name: string, options: SharedLimitOptions): SharedLimit
}

/** One limit, and how this process uses it. An id is an address, or empty where the limit has one count only. */
export interface SharedLimitOptions {
  /** Limit of all processes together. */
  readonly max: number
  /** Units that this process uses now. */
  readonly read: (id: string) => number
  /** Time, in milliseconds, at which the units that this process uses are void; never by default. */
  readonly untilMs?: (id: string) => number
  /**
   * Gives up units until this process uses `most`. Called when the processes have passed the limit together. The
   * processes that use the most are asked. Does nothing by default.
   */
  readonly shed?: (id: string, most: number) => void
}

/** Units that the other processes use. */
export interface OtherUnits {
  readonly count: number
  /** Time at which they are void, in milliseconds; 0: never. */
  readonly untilMs: number
}

/** A limit that all processes of the program keep together. */
export interface SharedLimit {
  /** Units of the other processes, as they reported them last. Processes far below the limit report nothing. */
  others(id: string): OtherUnits
  /**
   * Whether this process may use no further unit. Each process may use its even part of the limit at any time: the
   * others then give up what is beyond theirs.
   *
   * @param own units that this process uses
   */
  isFull(id: string, own: number): boolean
  /**
   * To be called after each change.
   *
   * @param own units that this process uses
   */
  changed(id: string, own: number): void
}

/** Units of processes that report nothing. */
export const NO_UNITS: OtherUnits = { count: 0, untilMs: 0 }

/** The counts of a program with one gateway process: its limits are its own. */
export const ALONE: SharedCounts = {
  processes: 1,
  share: (_name, { max }) => ({
    others: () => NO_UNITS,
    isFull: (_id, own) => own >= max,
    changed: () => {},
  }),
}

/** Units that one process uses of a limit. */
export interface CountReport {
  /** The name of the limit and the id, with a colon between. */
  readonly key: string
  readonly count: number
  readonly max: number
  readonly untilMs: number
}

/** Report to a process about a limit that several use, or of which one uses a good part. */
export interface CountTotal extends OtherUnits {
  readonly key: string
  /** False: nothing is to be reported any more. */
  readonly isWatched: boolean
  /** The most units that this process is to keep; null while the limit is kept. */
  readonly most: number | null
}
