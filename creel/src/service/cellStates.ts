import { type CellPlace, cellUp } from '@creel/core/cells'

/** State of a cell, as `/readyz` shows it. */
export type CellState =
  | 'ok'
  | 'out of reach'
  | 'opening'
  | 'needs creel migrate'
  | 'newer than this program'
  | 'refused'

/** States of the cells of an installation in this process. */
export interface CellStates {
  note(place: CellPlace, state: CellState): void
  all(): ReadonlyMap<string, CellState>
}

/** Keeps the states, also as the metric `creel_cell_up`. The first states are `opening`. */
export function createCellStates(places: readonly CellPlace[]): CellStates {
  const states = new Map<string, CellState>()
  const note = ({ name }: CellPlace, state: CellState) => {
    states.set(name, state)
    cellUp.set({ cell: name }, state === 'ok' ? 1 : 0)
  }
  for (const place of places) note(place, 'opening')
  return { note, all: () => states }
}
