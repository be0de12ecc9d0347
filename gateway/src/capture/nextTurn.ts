const TURN_MS = 1000

let turn: Promise<void> | undefined

/**
 * Resolves at the end of the current second, for all callers at once. Their queries then share statements, so that many
 * callers cost the database little.
 */
export function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setTimeout(() => {
      turn = undefined
      resolve()
    }, TURN_MS)
  })
  return turn
}
