/** A body of more octets is long. */
export const LONG_BODY_BYTES = 1024 * 1024

/** Long bodies that are read at once: each takes several times its size on its way into an answer. */
const AT_ONCE = 2

let running = 0
const waiting: (() => void)[] = []

/** Reads something long when its turn has come: whoever asks for many at once has them one after the other. */
export async function inTurn<Result>(read: () => Promise<Result>): Promise<Result> {
  while (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  try {
    return await read()
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}
