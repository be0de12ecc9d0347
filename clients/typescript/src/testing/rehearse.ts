import type { CallAnswer, CallInput } from '../call.ts'
import { type Creel, createCreel } from '../creel.ts'
import type { CreelOptions } from '../transport.ts'
import { optionsOfEnvironment } from './environment.ts'
import { type Handler, sendAll, TIMEOUT_SECONDS, type Unanswered } from './sending.ts'

type Start = CallInput<'replays_start'>

/** The result of one send of a rehearsal. */
export type RehearsedSend = CallAnswer<'replays_results'>['items'][number]

/** Requests of a rehearsal, and the baseline of its answers. Members are those of `POST …/replays`. */
export interface RehearsalOptions
  extends Partial<
    Pick<
      Start,
      'order' | 'pace' | 'faults' | 'seed' | 'sign' | 'edit' | 'compare' | 'concurrency' | 'timeoutSeconds'
    >
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
   * @param unanswered sends that the handler did not answer, whatever their baseline
   */
  constructor(
    readonly run: CallAnswer<'replays_get'>,
    readonly differing: readonly RehearsedSend[],
    readonly unanswered: readonly Unanswered[],
  ) {}

  /**
   * Whether every send was made and answered, no answer differs from its baseline, and there was a baseline if one was
   * named.
   */
  get isFine(): boolean {
    const { state, compare, counts } = this.run
    const isCompared = compare === null || counts.equal + counts.slower > 0
    return state === 'done' && isCompared && this.differing.length === 0 && this.unanswered.length === 0
  }

  /** The first 20 differences and missing answers, one line each, with the seed that repeats them. */
  get report(): string {
    const { counts, seed, state, reason } = this.run
    const told = new Set(this.differing.map(({ position }) => position))
    const lines = [
      ...this.differing.map((send) => ({ ...send, words: wordsOf(send) })),
      ...this.unanswered
        .filter(({ position }) => !told.has(position))
        .map((send) => ({ ...send, words: send.error })),
    ]
      .sort((a, b) => a.position - b.position)
      .map(
        ({ position, requestId, fault, words }) =>
          `  send ${position}, request ${requestId}${fault === null ? '' : ` (${fault})`}: ${words}`,
      )
    const more = lines.length - REPORTED_MAX
    return [
      `${counts.done} of ${counts.sends} sent, ${this.differing.length} differ, ${this.unanswered.length} unanswered${counts.uncompared === 0 ? '' : `, ${counts.uncompared} not compared`}, seed ${seed}${state === 'done' ? '' : `; the replay ${state}: ${reason ?? 'no reason'}`}`,
      ...lines.slice(0, REPORTED_MAX),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join('\n')
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

const REPORTED_MAX = 20
/** Characters of a value in a report. */
const VALUE_CHARACTERS_MAX = 100

const wordsOf = ({ error, differences }: RehearsedSend): string =>
  error ??
  differences
    .map(
      ({ path, before, after, missing }) =>
        `${path}: ${missing === 'before' ? 'absent' : valueText(before)} became ${missing === 'after' ? 'absent' : valueText(after)}`,
    )
    .join('; ')

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX)}…`
}

const PAGE = 100

/**
 * Sends captured requests to a handler, one after the other unless `concurrency` says otherwise, and compares the
 * answers. Network errors, errors of the handler, and answers that take longer than `timeoutSeconds` (default 15) are
 * results.
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
  let unanswered: Unanswered[]
  try {
    unanswered = await sendAll(creel, of, {
      to,
      concurrency: terms.concurrency ?? 1,
      timeoutSeconds: terms.timeoutSeconds ?? TIMEOUT_SECONDS,
    })
  } catch (error) {
    // A replay without its listener would never end.
    await creel.calls.replays.cancel(of).catch(() => undefined)
    throw error
  }
  const differing = [
    ...(await results(creel, { ...of, outcome: 'changed' })),
    ...(await results(creel, { ...of, outcome: 'failed' })),
    ...(await results(creel, { ...of, state: 'errored' })),
  ]
  return new Rehearsal(
    await creel.calls.replays.get(of),
    differing.sort((a, b) => a.position - b.position),
    unanswered.sort((a, b) => a.position - b.position),
  )
}

/** All sends that match, in their order. */
async function results(
  { calls }: Creel,
  matching: Pick<CallInput<'replays_results'>, 'endpointId' | 'replayId' | 'outcome' | 'state'>,
): Promise<RehearsedSend[]> {
  const found: RehearsedSend[] = []
  for (let afterPosition: number | null = 0; afterPosition !== null; ) {
    const page: CallAnswer<'replays_results'> = await calls.replays.results({
      ...matching,
      afterPosition,
      limit: PAGE,
    })
    found.push(...page.items)
    afterPosition = page.next
  }
  return found
}
