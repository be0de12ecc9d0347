const TURN_MS = 1000

let turn: Promise<void> | undefined

/**
 * Resolves at the end of the present second, for all that wait in it: what they then ask the database for is asked together, so
 * they cost it little however many they are.
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
