import { CreelError, notCreel } from './error.ts'
import { sentEvent } from './events.ts'
import { resumed } from './resumed.ts'
import type { operations } from './schema.ts'
import type { StreamEvents } from './streams.ts'
import { type CallOptions, queryText, type Transport } from './transport.ts'

type Members<Part> = [NonNullable<Part>] extends [never] ? unknown : NonNullable<Part>
type BodyOf<Operation> = Operation extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : unknown
/** Optional members may be undefined, too: they are left out. */
type Given<Input> = {
  [Name in keyof Input]: Record<never, never> extends Pick<Input, Name>
    ? Input[Name] | undefined
    : Input[Name]
}
type Success = 200 | 201 | 202 | 204
type AnswerOf<Answers> = {
  [Status in keyof Answers & Success]: Answers[Status] extends {
    content: { 'application/json': infer Data }
  }
    ? Data
    : undefined
}[keyof Answers & Success]

/** Members of path, query and body of an operation as one object, like the input of its tRPC procedure. */
export type CallInput<Id extends keyof operations> = Given<
  Members<operations[Id]['parameters']['path']> &
    Members<operations[Id]['parameters']['query']> &
    BodyOf<operations[Id]>
>

/** Data of the answer of an operation; undefined for an answer without content. */
export type CallAnswer<Id extends keyof operations> = AnswerOf<operations[Id]['responses']>

/** Calls one operation. Rejects with a `CreelError` when the service refuses it. */
export type Call<Id extends keyof operations> = (
  input: CallInput<Id>,
  options?: CallOptions,
) => Promise<CallAnswer<Id>>

/** Makes the method of an operation from its route: `POST /api/v1/endpoints/{endpointId}/replay?actionId`. */
export type MakeCall = <Id extends keyof operations>(route: string) => Call<Id>

/**
 * Follows one stream, which is opened again where it broke off, until the reader or a signal ends it, or what it follows has
 * ended. Throws a `CreelError` when it is refused.
 */
export type Stream<Id extends keyof StreamEvents> = (
  input: CallInput<Id>,
  options?: Pick<CallOptions, 'signal'>,
) => AsyncGenerator<StreamEvents[Id], void, undefined>

/** Makes the method of a stream from its path. */
export type MakeStream = <Id extends keyof StreamEvents>(id: Id, path: string) => Stream<Id>

/** Makes the methods of streams over one transport. */
export function followerOf(transport: Transport): MakeStream {
  return <Id extends keyof StreamEvents>(id: Id, path: string): Stream<Id> =>
    async function* (input, { signal } = {}) {
      const members: Record<string, unknown> = { ...Object(input) }
      const filled = filledPath(path, members) + queryText(members)
      let headers = {}
      const events = resumed(transport, {
        signal,
        open: () => ({ path: filled, headers }),
        read(sent) {
          if (sent.id !== null) headers = { 'Last-Event-ID': sent.id }
          const event = sentEvent(id, sent)
          return event === null ? [] : [{ type: 'sent' as const, event, isLast: sent.event === 'ended' }]
        },
      })
      for await (const one of events) {
        if (one.type !== 'sent') continue
        yield one.event
        // The service closes the stream after that, and opening it again would repeat it.
        if (one.isLast) return
      }
    }
}

/**
 * The path with its members, which are taken out of `members`. With an empty one, or dots, it would be the path of another
 * operation: that of all items instead of one.
 */
function filledPath(path: string, members: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(taken(name, members))
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} is ${JSON.stringify(value)}: it must be an id.`)
    return encodeURIComponent(value)
  })
}

function taken(name: string, members: Record<string, unknown>): unknown {
  const value = members[name]
  delete members[name]
  return value
}

/** Calls an operation by its route. Members of path, query and body are one object. */
export type CallRoute = <Data>(route: string, input: object, options?: CallOptions) => Promise<Data>

/** Makes the call of operations by their routes over one transport. */
export function callerOf({ ask }: Transport): CallRoute {
  return async (route, input, options = {}) => {
    const [method = '', path = '', ...inQuery] = route.split(/[ ?]/)
    const hasBody = method !== 'GET' && method !== 'DELETE'
    const members: Record<string, unknown> = { ...input }
    const filled = filledPath(path, members)
    const query = hasBody ? Object.fromEntries(inQuery.map((name) => [name, taken(name, members)])) : members
    const body = hasBody && Object.keys(members).length > 0 ? JSON.stringify(members) : null
    const headers: Record<string, string> = { Accept: 'application/json' }
    if (body !== null) headers['Content-Type'] = 'application/json'
    const sending = { ...options, method, headers, body }
    return await ask(filled + queryText(query), sending, (answer) => jsonOf(answer, ANSWERED[route]))
  }
}

const isObject = (value: unknown) => Object(value) === value
const isId = (value: unknown) => typeof value === 'string' || typeof value === 'number'

type Answered = readonly [member: string, isRight: (value: unknown) => boolean]

/** Members of the answers with which programs begin. Other servers answer with JSON, too, and lack them. */
const ANSWERED: Readonly<Record<string, Answered>> = {
  'GET /api/v1/me': ['key', isObject],
  'GET /api/v1/endpoints': ['items', Array.isArray],
  'POST /api/v1/endpoints': ['id', isId],
  'GET /api/v1/endpoints/{endpointId}': ['id', isId],
  'GET /api/v1/endpoints/{endpointId}/requests': ['items', Array.isArray],
  'GET /api/v1/endpoints/{endpointId}/requests/await': ['id', isId],
}

/**
 * The data of an answer.
 *
 * @param answered the member that it must have
 * @throws CreelError for an answer that is another server's, like the page of a proxy
 */
export async function jsonOf<Data>(
  response: Response,
  [member, isRight]: Answered = ['', () => true],
): Promise<Data> {
  const { status, url } = response
  const isData = (value: unknown): value is Data =>
    status === 204 || (isObject(value) && isRight(Object(value)[member]))
  const data: unknown = status === 204 ? undefined : await response.json()
  if (isData(data)) return data
  throw new CreelError({ code: 'unexpected_answer', status, detail: notCreel(url) })
}
