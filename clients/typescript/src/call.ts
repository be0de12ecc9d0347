import { CreelError } from './error.ts'
import type { operations } from './schema.ts'
import { type CallOptions, connectionFailed, queryText, type Transport } from './transport.ts'

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

/** Makes the methods of operations over one transport. */
export function callerOf({ send, refused, signal }: Transport): MakeCall {
  return <Id extends keyof operations>(route: string): Call<Id> => {
    const [method = '', path = '', ...inQuery] = route.split(/[ ?]/)
    const hasBody = method !== 'GET' && method !== 'DELETE'
    return async (input, options = {}) => {
      const members: Record<string, unknown> = { ...Object(input) }
      const take = (name: string) => {
        const value = members[name]
        delete members[name]
        return value
      }
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(String(take(name))),
      )
      const query = hasBody ? Object.fromEntries(inQuery.map((name) => [name, take(name)])) : members
      const body = hasBody && Object.keys(members).length > 0 ? JSON.stringify(members) : null
      const headers: Record<string, string> = { Accept: 'application/json' }
      if (body !== null) headers['Content-Type'] = 'application/json'
      try {
        return await jsonOf(await send(filled + queryText(query), { ...options, method, headers, body }))
      } catch (error) {
        options.signal?.throwIfAborted()
        signal?.throwIfAborted()
        throw refused(error)
      }
    }
  }
}

/** @throws CreelError for an answer that breaks off, or that is not JSON, like the page of a proxy */
async function jsonOf<Data>(response: Response): Promise<Data> {
  const text = await response.text().catch((error: unknown) => {
    throw connectionFailed(new URL(response.url).origin, error)
  })
  try {
    const data = text === '' ? undefined : JSON.parse(text)
    return data
  } catch (error) {
    const detail = 'The answer is not JSON.'
    throw new CreelError({ code: 'unexpected_answer', status: response.status, detail }, { cause: error })
  }
}
