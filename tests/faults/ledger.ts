/** Record of all captures: acknowledged ones, delivered ones, and other answers. */
export interface Ledger {
  /** The number of the next capture. */
  nextNumber(): number
  acknowledged(number: number): void
  /** A capture that was answered otherwise, or not at all: it may or may not be stored. */
  refused(number: number, answer: number | 'no answer'): void
  delivered(number: number): void
  readonly acknowledgedNumbers: ReadonlySet<number>
  /** How often each capture arrived at the receiver. */
  readonly deliveries: ReadonlyMap<number, number>
  /** How often each refusal was given. */
  readonly refusals: ReadonlyMap<number | 'no answer', number>
}

/** An empty ledger. */
export function createLedger(): Ledger {
  let last = 0
  const acknowledgedNumbers = new Set<number>()
  const deliveries = new Map<number, number>()
  const refusals = new Map<number | 'no answer', number>()
  return {
    nextNumber: () => ++last,
    acknowledged: (number) => void acknowledgedNumbers.add(number),
    refused: (_number, answer) => void refusals.set(answer, (refusals.get(answer) ?? 0) + 1),
    delivered: (number) => void deliveries.set(number, (deliveries.get(number) ?? 0) + 1),
    acknowledgedNumbers,
    deliveries,
    refusals,
  }
}
