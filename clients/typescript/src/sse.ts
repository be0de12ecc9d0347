/** One event of a `text/event-stream`. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
  /** Null when the event carries none. */
  readonly id: string | null
}

/** The service says something every 15 s. A connection that is silent for longer has gone, with nobody to say so. */
const SILENCE_MS = 40_000

/**
 * The events of a stream, until it ends. Comments and fields that nobody knows are passed over.
 *
 * @throws Error when nothing comes for `silenceMs` while somebody waits
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  silenceMs: number = SILENCE_MS,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await orSilence(reader.read(), silenceMs)
      text += done ? decoder.decode() : decoder.decode(value, { stream: true })
      // A CR that ends the chunk may be half of a CRLF.
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r(?!\n)/)
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parsedEvent(block)
        if (event !== null) yield event
      }
      if (done) return
    }
  } finally {
    // Not awaited: a connection that has gone need not answer.
    reader.cancel().catch(() => {})
  }
}

async function orSilence<Value>(read: Promise<Value>, silenceMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came for ${silenceMs / 1000} s`)), silenceMs)
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
