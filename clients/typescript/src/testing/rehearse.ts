import type { CallAnswer, CallInput } from '../call.ts'
import { type Creel, createCreel } from '../creel.ts'
import type { CreelOptions } from '../transport.ts'
import { optionsOfEnvironment } from './environment.ts'

type Start = CallInput<'replays_start'>
type Taken = CallAnswer<'replays_take'>['items'][number]

/** The result of one send of a rehearsal. */
export type RehearsedSend = CallAnswer<'replays_results'>['items'][number]

/** A handler of webhooks: the URL of a server, or a function in this process. */
export type Handler = string | ((request: Request) => Response | Promise<Response>)

/** Requests of a rehearsal, and the baseline of its answers. Members are those of `POST …/replays`. */
export interface RehearsalOptions
  extends Partial<
    Pick<Start, 'order' | 'pace' | 'faults' | 'seed' | 'sign' | 'edit' | 'compare' | 'concurrency'>
  > {
  /** Default: the variables CREEL_URL and CREEL_KEY. */
  readonly creel?: CreelOptions
  /** Id of the endpoint whose captures are sent. */
  readonly endpointId: string
  /** Default: all stored requests of the endpoint, the newest 10,000. */
  readonly select?: Start['select']
  readonly to: Handler
}

/** The end of a rehearsal. */
export class Rehearsal {
  /**
   * @param run the replay, with its counts and its seed
   * @param differing sends that differ, failed, or could not be made
   */
  constructor(
    readonly run: CallAnswer<'replays_get'>,
    readonly differing: readonly RehearsedSend[],
  ) {}

  /** Whether every send was made, and no answer differs from its baseline. */
  get isFine(): boolean {
    return this.run.state === 'done' && this.differing.length === 0
  }

  /** The differences, one line each, with the seed that repeats them. */
  get report(): string {
    const { counts, seed, state, reason } = this.run
    const lines = this.differing.map(({ position, requestId, fault, error, differences }) => {
      const what =
        error ??
        differences
          .map(
            ({ path, before, after }) => `${path}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`,
          )
          .join('; ')
      return `  send ${position}, request ${requestId}${fault === null ? '' : ` (${fault})`}: ${what}`
    })
    const head = `${counts.done} of ${counts.sends} sent, ${lines.length} differ, seed ${seed}${state === 'done' ? '' : `; the replay ${state}: ${reason ?? 'no reason'}`}`
    return [head, ...lines].join('\n')
  }

  /**
   * Ends a test that any runner runs.
   *
   * @throws Error with the report unless {@link isFine}
   */
  assertFine(): void {
    if (!this.isFine) throw new Error(this.report)
  }
}

/** Matchers for `expect.extend` of Vitest, Jest, bun:test and Playwright: `expect(rehearsal).toBeFine()`. */
export const rehearsalMatchers = {
  toBeFine(rehearsal: unknown): { pass: boolean; message: () => string } {
    if (!(rehearsal instanceof Rehearsal)) return { pass: false, message: () => 'This is no rehearsal.' }
    return {
      pass: rehearsal.isFine,
      message: () => (rehearsal.isFine ? 'The rehearsal was fine.' : rehearsal.report),
    }
  },
}

const WAIT_SECONDS = 10
const CALL_MS = 30_000
const PAGE = 100

/**
 * Sends captured requests to a handler, one after the other unless `concurrency` says otherwise, and compares the
 * answers. Network errors are results.
 *
 * @throws CreelError when the service refuses, for example because no request matches
 */
export async function rehearse(options: RehearsalOptions): Promise<Rehearsal> {
  const { creel: settings, endpointId, select = { filter: {} }, to, ...terms } = options
  const creel = createCreel(settings ?? optionsOfEnvironment())
  const { replay } = await creel.calls.replays.start({
    ...terms,
    endpointId,
    select,
    to: { listeners: true },
  })
  if (replay === null) throw new Error('The service started no replay.')
  const of = { endpointId, replayId: replay.id }
  try {
    await send(creel, of, { to, concurrency: terms.concurrency ?? 1 })
  } catch (error) {
    // A replay without its listener would never end.
    await creel.calls.replays.cancel(of).catch(() => undefined)
    throw error
  }
  const differing: RehearsedSend[] = []
  for (let afterPosition: number | null = 0; afterPosition !== null; ) {
    const page: CallAnswer<'replays_results'> = await creel.calls.replays.results({
      ...of,
      afterPosition,
      limit: PAGE,
    })
    differing.push(...page.items.filter(isDifferent))
    afterPosition = page.next
  }
  return new Rehearsal(await creel.calls.replays.get(of), differing)
}

const isDifferent = ({ outcome, state }: RehearsedSend): boolean =>
  outcome === 'changed' || outcome === 'failed' || state === 'errored'

interface Replay {
  readonly endpointId: string
  readonly replayId: string
}

async function send(
  { calls }: Creel,
  of: Replay,
  { to, concurrency }: { readonly to: Handler; readonly concurrency: number },
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  for (let state = 'running'; state === 'running' || state === 'paused'; ) {
    const waitSeconds = underWay.size > 0 ? 0 : WAIT_SECONDS
    const taken = await calls.replays.take({ ...of, max: concurrency, waitSeconds }, { timeoutMs: CALL_MS })
    state = taken.state
    for (const item of taken.items) {
      const work = (async () => {
        const startedAt = performance.now()
        const answer = await answerOf(to, item)
        const durationMs = Math.round(performance.now() - startedAt)
        await calls.replays.answer({ ...of, position: item.position, durationMs, ...answer })
      })().finally(() => underWay.delete(work))
      underWay.add(work)
    }
    if (underWay.size > 0 && (underWay.size >= concurrency || taken.items.length === 0))
      await Promise.race(underWay)
  }
  await Promise.all(underWay)
}

/** The answer of the handler, as the service takes it. */
async function answerOf(to: Handler, item: Taken) {
  try {
    const response = await handle(to, requestOf(typeof to === 'string' ? to : 'http://localhost', item))
    return {
      received: {
        statusCode: response.status,
        headers: [...response.headers].map(([name, value]) => ({ name, value })),
        body: base64(new Uint8Array(await response.arrayBuffer())),
      },
    }
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : error}`.slice(0, 500) || 'no answer' }
  }
}

const handle = async (to: Handler, request: Request): Promise<Response> =>
  typeof to === 'string' ? await fetch(request, { redirect: 'manual' }) : await to(request)

/** Fields that a connection sets itself. */
const OF_CONNECTION = /^(connection|content-length|expect|host|transfer-encoding)$/i

function requestOf(base: string, { method, path, query, headers, body }: Taken): Request {
  const url = base.replace(/\/$/, '') + path + (query === null ? '' : `?${query}`)
  const fields = headers.filter(({ name }) => !OF_CONNECTION.test(name))
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
  return new Request(url, {
    method,
    headers: fields.map(({ name, value }): [string, string] => [name, value]),
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: bytes }),
  })
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
