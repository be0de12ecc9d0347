import { type CallAnswer, CONNECTION_FIELDS } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { OUTSIDE_TARGET } from '../listen/localSender.ts'
import { localTarget } from '../listen/localTarget.ts'
import type { LocalOutbound } from '../tools.ts'

type Taken = CallAnswer<'replays_take'>['items'][number]

/** A server on this machine, and what is sent to it. */
export interface LocalRun {
  readonly api: ApiClient
  readonly endpointId: string
  readonly replayId: string
  readonly target: string
  readonly outbound: LocalOutbound
  readonly concurrency: number
  readonly timeoutMs: number
  /** Called after each answer, before it is reported; the next request waits for it. */
  readonly onAnswer: (item: Taken) => Promise<void>
  /** Ends the run, with the sends under way. */
  readonly signal: AbortSignal
}

const WAIT_SECONDS = 20

/**
 * Takes the requests of a replay, sends each to the local server, and reports the answers, to the end of the replay.
 *
 * @throws the first error of a call or of `onAnswer`, after the sends under way
 */
export async function runLocally(run: LocalRun): Promise<void> {
  const { api, endpointId, replayId, concurrency } = run
  const broken = new AbortController()
  const signal = AbortSignal.any([broken.signal, run.signal])
  const underWay = new Set<Promise<void>>()
  try {
    for (let state = 'running'; state === 'running' || state === 'queued' || state === 'paused'; ) {
      const take = () =>
        api.calls.replays.take(
          { endpointId, replayId, max: concurrency, waitSeconds: WAIT_SECONDS },
          { timeoutMs: (WAIT_SECONDS + 10) * 1000, signal },
        )
      const taken = await api.pastOutages(take, { signal })
      state = taken.state
      for (const item of taken.items) {
        // Caught here: a failure while a call is awaited must not end the process.
        const work = sendOne(run, item)
          .catch((error: unknown) => broken.abort(error))
          .finally(() => underWay.delete(work))
        underWay.add(work)
      }
      if (underWay.size >= concurrency) await Promise.race(underWay)
      signal.throwIfAborted()
    }
  } finally {
    await Promise.all(underWay)
  }
  signal.throwIfAborted()
}

async function sendOne(run: LocalRun, item: Taken): Promise<void> {
  const { api, endpointId, replayId, outbound, signal, timeoutMs } = run
  const url = outbound.urlOf(localTarget(run.target).base, { path: item.path, queryString: item.query })
  const report = (answer: object) => {
    const input = { endpointId, replayId, position: item.position, durationMs: 0, ...answer }
    return api.pastOutages(() => api.calls.replays.answer(input))
  }
  if (url === undefined) {
    await report({ error: OUTSIDE_TARGET })
    return
  }
  const result = await outbound.send({
    method: item.method,
    url,
    headers: item.headers
      .filter(({ name }) => !CONNECTION_FIELDS.has(name.toLowerCase()))
      .map(({ name, value }) => [name, Buffer.from(value).toString('latin1')] as const),
    body: Buffer.from(item.body, 'base64'),
    totalTimeoutMs: timeoutMs,
    signal,
  })
  if (signal.aborted) return
  await run.onAnswer(item)
  await report({
    durationMs: result.durationMs,
    ...('statusCode' in result
      ? {
          received: {
            statusCode: result.statusCode,
            headers: result.headers.map(([name, value]) => ({
              name,
              value: Buffer.from(value, 'latin1').toString(),
            })),
            body: Buffer.from(result.body).toString('base64'),
          },
        }
      : { error: `${result.outcome}: ${'detail' in result ? result.detail : ''}`.slice(0, 500) }),
  })
}
