import { STREAMS, type Stream } from '@creel/core'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import { z } from 'zod'
import type { Client } from './client.ts'

/** One event of a stream, from the wire. */
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
  /** Reads until `isEnough` returns true; returns everything read. Throws when the stream ends before. */
  until(isEnough: (seen: readonly SeenEvent[]) => boolean): Promise<readonly SeenEvent[]>
}

/** Opens a stream, which must succeed. Its reader throws at an event that the stream does not declare. */
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
  const events = eventsOf(response, streamAt(path))
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

/** The stream of a path. */
function streamAt(path: string): Stream {
  const { pathname } = new URL(path, 'http://service')
  const stream = STREAMS.find((one) =>
    new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  if (stream === undefined) throw new Error(`No stream is declared at ${path}.`)
  return stream
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const validators = new Map<z.ZodType, ValidateFunction>()

/** Checks an event against its declaration: its name, and its data, without other members. */
function checkEvent({ name, events }: Stream, { event, data }: SeenEvent): void {
  const schema = events[event]
  if (schema === undefined) throw new Error(`${name} sent ${event}, which it does not declare.`)
  const isDeclared = validators.get(schema) ?? ajv.compile(jsonSchemaOf(schema))
  validators.set(schema, isDeclared)
  if (!isDeclared(data)) throw new Error(`${name} sent ${event}: ${ajv.errorsText(isDeclared.errors)}`)
}

/** JSON Schema without the names for OpenAPI, which Ajv would take for addresses. */
const jsonSchemaOf = (schema: z.ZodType) =>
  z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      delete jsonSchema.id
    },
  })

async function* eventsOf(response: Response, stream: Stream): AsyncGenerator<SeenEvent, void, undefined> {
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
      const event: SeenEvent = {
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: JSON.parse(fields.get('data') ?? 'null'),
      }
      checkEvent(stream, event)
      yield event
    }
  }
}
