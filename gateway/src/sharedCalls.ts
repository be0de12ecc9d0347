import { type Context, gathering, type Route } from '@creel/core'

/** A call of a procedure, and how it is made. */
export interface Call {
  readonly context: Context
  readonly input: unknown
  readonly make: (context: Context, input: unknown) => Promise<unknown>
}

/**
 * Makes a call, together with those of the same caller that ask for the same at the same time where the route says so: the
 * procedure runs once, and the text of its answer is made once. None is answered by a run that began before it came. Each has
 * paid for itself before.
 *
 * @param target path and query as they were sent: what asks for the same is spelled the same
 * @returns the JSON of the answer; null for an answer without content
 * @throws what the procedure throws
 */
export async function jsonOf(route: Route, target: string, call: Call): Promise<Uint8Array | string | null> {
  const { context, input } = call
  if (!isShared(route, input)) return textOf(await call.make(context, input))
  return await callTogether(context.db, `${context.callerId} ${route.name} ${target}`, call)
}

function isShared({ shared }: Route, input: unknown): boolean {
  return shared !== undefined && Object.keys(Object(input)).every((name) => shared.includes(name))
}

const callTogether = gathering<Call, Uint8Array | string | null>(async (_db, calls) => {
  const [{ context, input, make }] = calls
  if (calls.length === 1) return [textOf(await make(context, input))]
  const { signal, forget } = whenAllHaveGone(calls.map((call) => call.context.signal))
  try {
    const text = textOf(await make({ ...context, signal }, input))
    const bytes = text === null ? null : Buffer.from(text)
    return calls.map(() => bytes)
  } finally {
    forget()
  }
})

function textOf(result: unknown): string | null {
  return result === null ? null : JSON.stringify(result)
}

/** What one client no longer wants, the others do. */
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
