import type { CallAnswer } from 'creel-client'
import { ClientError } from '../clientError.ts'

type Run = CallAnswer<'replays_get'>
type Result = CallAnswer<'replays_results'>['items'][number]

/** Findings of a rehearsal. */
export interface Found {
  readonly run: Run
  /** The first sends that differ, failed or could not be made. */
  readonly differing: readonly Result[]
  readonly stateChanges: readonly StateChange[]
  /** The command that sends the first differing request again. */
  readonly again: (result: Pick<Result, 'requestId' | 'fault'>) => string
}

const VALUE_CHARACTERS = 100

/** Whether everything was as it should be, and something was compared if a baseline was named. */
export const isFine = ({ run, stateChanges }: Pick<Found, 'run' | 'stateChanges'>): boolean =>
  run.state === 'done' &&
  differingCount(run) === 0 &&
  stateChanges.length === 0 &&
  (run.compare === null || comparedCount(run) > 0)

const differingCount = ({ counts }: Run): number => counts.changed + counts.failed + counts.errored

const comparedCount = ({ counts: { equal, changed, failed, slower } }: Run): number =>
  equal + changed + failed + slower

/** The lines that end the command. */
export function summaryLines(found: Found): string[] {
  const { run, differing, stateChanges, again } = found
  const { sends, done, equal, changed, failed, slower, errored, uncompared } = run.counts
  const lines = [
    `${done} of ${sends} sent, seed ${run.seed}.${run.state === 'done' ? '' : ` The replay ${run.state}${run.reason === null ? '' : `: ${run.reason}`}.`}`,
    ...(comparedCount(run) === 0
      ? ['Nothing was compared: no baseline has an answer to these requests.']
      : [`${equal} equal, ${changed} changed, ${failed} failed, ${slower} slower.`]),
    ...(uncompared === 0 ? [] : [`${uncompared} not compared: no baseline, or a body that was not kept.`]),
    ...(errored === 0 ? [] : [`${errored} could not be sent.`]),
  ]
  const [first] = differing
  if (first !== undefined) {
    const again1 = first.copy === 1 ? ', sent again' : ''
    lines.push(
      '',
      `First: request ${first.requestId}${first.fault === null ? '' : ` (${first.fault}${again1})`}, send ${first.position}`,
      ...(first.error === null ? [] : [`  ${first.error}`]),
      ...first.differences.map(
        ({ path, before, after, missing }) =>
          `  ${path}: ${missing === 'before' ? 'absent' : text(before)} became ${missing === 'after' ? 'absent' : text(after)}`,
      ),
      `Send it again: ${again(first)}`,
    )
  }
  const [changedState] = stateChanges
  if (changedState !== undefined) {
    lines.push(
      '',
      `${stateChanges.length} requests changed the state when they were sent again, first request ${changedState.requestId}.`,
      `Send it again: ${again({ requestId: changedState.requestId, fault: 'duplicate' })}`,
    )
  }
  return lines
}

function text(value: unknown): string {
  const written = JSON.stringify(value) ?? 'null'
  return written.length <= VALUE_CHARACTERS ? written : `${written.slice(0, VALUE_CHARACTERS)}…`
}

/** A request whose repetition changed the state of the handler. */
interface StateChange {
  readonly position: number
  readonly requestId: number
}

/** Compares fingerprints of a handler's state: after the first send of a duplicate, and after the second. */
export class StateWatch {
  readonly changes: StateChange[] = []
  #after: string | undefined

  /** @param url answers a fingerprint of the state, as text */
  constructor(private readonly url: string) {}

  /**
   * To be called after each answer, in their order.
   *
   * @throws ClientError when the URL does not answer 2xx
   */
  async note({
    position,
    requestId,
    copy,
  }: {
    readonly position: number
    readonly requestId: number
    readonly copy: number
  }): Promise<void> {
    const before = this.#after
    this.#after = await this.#read()
    if (copy === 1 && before !== this.#after) this.changes.push({ position, requestId })
  }

  async #read(): Promise<string> {
    const answer = await fetch(this.url).catch(() => undefined)
    if (answer?.ok !== true)
      throw new ClientError(`--state-url does not answer: ${answer?.status ?? 'no connection'}.`, [
        'It must answer 2xx with a text that changes when the state of the handler does.',
      ])
    return await answer.text()
  }
}
