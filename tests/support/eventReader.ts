import type { Client } from './client.ts'

/** One event of a stream, as it was on the wire. */
export interface SeenEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** An open stream of the REST surface. */
export interface EventReader extends AsyncDisposable {
  readonly response: Response
  /** The next event; undefined when the service ended the stream. */
  next(): Promise<SeenEvent | undefined>
  /** Reads on until what was read satisfies; answers all of it. Throws when the stream ends before. */
  until(isEnough: (seen: readonly SeenEvent[]) => boolean): Promise<readonly SeenEvent[]>
}

/** Opens a stream that must begin. */
export async function openEvents(
  client: Client,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const hangUp = new AbortController()
  const response = await fetch(client.baseUrl + path, {
    headers: { Authorization: `Bearer ${client.key}`, ...headers },
    signal: hangUp.signal,
  })
  if (response.status !== 200) throw new Error(`The stream answered ${response.status}.`)
  const events = eventsOf(response)
  const reader: EventReader = {
    response,
    async next() {
      const { done, value } = await events.next()
      return done === true ? undefined : value
    },
    async until(isEnough) {
      const seen: SeenEvent[] = []
      while (!isEnough(seen)) {
        const event = await reader.next()
        if (event === undefined) throw new Error(`The stream ended after ${JSON.stringify(seen)}.`)
        seen.push(event)
      }
      return seen
    },
    async [Symbol.asyncDispose]() {
      hangUp.abort()
      await events.return(undefined).catch(() => undefined)
    },
  }
  return reader
}

async function* eventsOf(response: Response): AsyncGenerator<SeenEvent, void, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      if (frame.startsWith(':')) continue
      const fields = new Map(
        frame.split('\n').map((line): [string, string] => {
          const at = line.indexOf(': ')
          return [line.slice(0, at), line.slice(at + 2)]
        }),
      )
      yield {
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: JSON.parse(fields.get('data') ?? 'null'),
      }
    }
  }
}
