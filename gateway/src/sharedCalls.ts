import { type Context, gathering, type Route } from '@creel/core'
import { jsonInSlices } from './http/longAnswer.ts'

/** A call of a procedure, ready to run. */
export interface Call {
  readonly context: Context
  readonly input: unknown
  readonly make: (context: Context, input: unknown) => Promise<unknown>
}

/**
 * Makes a call. If the route allows sharing, identical concurrent calls of one caller are coalesced: the procedure runs
 * once, and the text of its answer is made once. No call is answered by a run that began before the call arrived. Each
 * call has been charged before.
 *
 * @param target path and query as they were sent; calls with the same spelling are identical
 * @returns the JSON of the answer, in pieces; null for an answer without content
 * @throws the procedure's error
 */
export async function jsonOf(route: Route, target: string, call: Call): Promise<readonly string[] | null> {
  const { context, input } = call
  if (!isShared(route, input)) return await textOf(call)
  return await callTogether(context.db, `${context.callerId} ${route.name} ${target}`, call)
}

function isShared({ shared }: Route, input: unknown): boolean {
  return shared !== undefined && Object.keys(Object(input)).every((name) => shared.includes(name))
}

const callTogether = gathering<Call, readonly string[] | null>(async (_db, calls) => {
  const [first] = calls
  if (calls.length === 1) return [await textOf(first)]
  const { signal, forget } = whenAllHaveGone(calls.map((call) => call.context.signal))
  try {
    const text = await textOf({ ...first, context: { ...first.context, signal } })
    return calls.map(() => text)
  } finally {
    forget()
  }
})

/** Makes a call, and the JSON of its result. */
async function textOf({ context, input, make }: Call): Promise<readonly string[] | null> {
  const result = await make(context, input)
  if (result === null) return null
  return context.longBodies.bytes > 0 ? await jsonInSlices(result) : [JSON.stringify(result)]
}

/** Aborts only when every client has disconnected. */
function whenAllHaveGone(signals: readonly AbortSignal[]) {
  const all = new AbortController()
  const look = () => {
    if (signals.every(({ aborted }) => aborted)) all.abort()
  }
  for (const signal of signals) signal.addEventListener('abort', look)
  look()
  return {
    signal: all.signal,
    forget: () => {
      for (const signal of signals) signal.removeEventListener('abort', look)
    },
  }
}
