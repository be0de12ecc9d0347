import { CreelError } from './error.ts'
import { nothingCame } from './transport.ts'

/** One event of a `text/event-stream`. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
  /** Null when the event carries none. */
  readonly id: string | null
}

/** The service sends something every 15 s. A connection that is silent for this time is lost. */
export const SILENCE_MS = 40_000

/** More than an event with the longest capture has: 60 MiB of characters that JSON writes with six each. */
const EVENT_CHARACTERS_MAX = 400 * 1024 * 1024

/** End of a block: two ends of lines. A CR that ends a piece counts; if an LF follows, it is an empty line of the next. */
const END = /(?:\r\n|\n|\r(?!\n)){2}/

/**
 * The events of a stream, until it ends, and null for each heartbeat. Unknown fields are passed over.
 *
 * @throws Error when nothing comes for `silenceMs` while the reader waits
 * @throws CreelError `unexpected_answer` for an event that is longer than any of the service
 */
export async function* blocksOf(
  body: ReadableStream<Uint8Array>,
  silenceMs: number = SILENCE_MS,
  charactersMax: number = EVENT_CHARACTERS_MAX,
): AsyncGenerator<ServerEvent | null, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // Pieces of the unfinished block, and the end of the last one: the end of a block may lie across two pieces.
  let pieces: string[] = []
  let seam = ''
  let length = 0
  try {
    for (;;) {
      const { done, value } = await orSilence(reader.read(), silenceMs)
      const piece = done ? decoder.decode() : decoder.decode(value, { stream: true })
      pieces.push(piece)
      length += piece.length
      seam = seam.slice(-3) + piece
      if (END.test(seam)) {
        const blocks = pieces.join('').split(END)
        seam = blocks.pop() ?? ''
        pieces = [seam]
        length = seam.length
        yield* blocks.map(parsedEvent)
      }
      if (length > charactersMax) throw endless()
      if (done) return
    }
  } finally {
    // Not awaited: a lost connection may not answer.
    reader.cancel().catch(() => {})
  }
}

const endless = () =>
  new CreelError({
    code: 'unexpected_answer',
    status: 200,
    detail: 'An event of the stream is longer than any of Creel.',
  })

async function orSilence<Value>(read: Promise<Value>, silenceMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(nothingCame(silenceMs)), silenceMs)
  })
  try {
    return await Promise.race([read, silence])
  } finally {
    clearTimeout(timer)
  }
}

function parsedEvent(block: string): ServerEvent | null {
  let event = 'message'
  let id: string | null = null
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id') id = value
  }
  return data.length === 0 ? null : { event, data: data.join('\n'), id }
}
