import type { CallInput } from 'creel-client'
import { usageError } from '../clientError.ts'
import { requiredMoment } from '../words.ts'

/** Options of `creel rehearse` that say what is sent, and how. */
export interface RehearseOptions {
  readonly request?: readonly string[]
  readonly since?: string
  readonly until?: string
  readonly label?: string
  readonly sample?: number
  readonly order?: string
  readonly speed?: number
  readonly perSecond?: number
  readonly faults?: string
  readonly seed?: number
  readonly sign?: string
  readonly against?: string
  /** Name or id of the action whose recorded answers count. */
  readonly action?: string
  readonly ignore?: readonly string[]
  readonly expect?: string
  readonly stateUrl?: string
  readonly concurrency?: number
}

/** Shares of faults that are named without one. */
const SHARES = { duplicate: 0.1, reorder: 0.1, late: 0.05, 'bad-signature': 0.02, drop: 0.01 } as const
/** A late request comes an hour later, divided by the speed. */
const LATE_SECONDS = 3600
const SAMPLE_DEFAULT = 500

type Terms = Omit<CallInput<'replays_start'>, 'endpointId' | 'to'>

/**
 * Members of the API's input.
 *
 * @param actionId id of `action`
 * @throws ClientError for words that are not understood
 */
export function termsOf(options: RehearseOptions, actionId?: string): Terms {
  const { request, label, sample, order, speed, perSecond, seed, sign, ignore, concurrency } = options
  const isIdempotence = expectsIdempotence(options)
  const faults = isIdempotence ? { duplicate: 1 } : faultsOf(options.faults)
  const against = isIdempotence ? 'first' : options.against
  return {
    select:
      request === undefined
        ? {
            filter: {
              label: label ?? null,
              since: options.since === undefined ? null : requiredMoment(options.since, '--since'),
              until: options.until === undefined ? null : requiredMoment(options.until, '--until'),
            },
            sample: sample ?? SAMPLE_DEFAULT,
          }
        : { requestIds: request.map(Number) },
    order: order === undefined ? undefined : oneOf(['arrival', 'shuffled'] as const, order, '--order'),
    pace: speed !== undefined ? { speed } : perSecond !== undefined ? { perSecond } : undefined,
    faults,
    seed,
    sign:
      sign === undefined ? undefined : oneOf(['as-captured', 'creel', 'provider'] as const, sign, '--sign'),
    compare:
      against === undefined
        ? undefined
        : { with: against, actionId: actionId ?? null, ignore: ignore === undefined ? null : [...ignore] },
    concurrency,
  }
}

/** Whether each request is sent twice, and the second answer must equal the first. */
export function expectsIdempotence({ expect }: Pick<RehearseOptions, 'expect'>): boolean {
  if (expect === undefined) return false
  oneOf(['idempotent'], expect, '--expect')
  return true
}

function faultsOf(text: string | undefined): Terms['faults'] {
  if (text === undefined) return undefined
  const shares = new Map(
    text.split(',').map((part) => {
      const [word = '', given] = part.trim().split('=')
      const name = oneOf(Object.keys(SHARES) as (keyof typeof SHARES)[], word, '--faults')
      const share = given === undefined ? SHARES[name] : Number(given)
      if (!(share >= 0 && share <= 1))
        throw usageError(`"${part}" is not a share.`, 'Write a share from 0 to 1: duplicate=0.1.')
      return [name, share] as const
    }),
  )
  const late = shares.get('late')
  return {
    duplicate: shares.get('duplicate') ?? null,
    reorder: shares.get('reorder') ?? null,
    late: late === undefined ? null : { share: late, bySeconds: LATE_SECONDS },
    badSignature: shares.get('bad-signature') ?? null,
    drop: shares.get('drop') ?? null,
  }
}

function oneOf<Word extends string>(words: readonly Word[], given: string, option: string): Word {
  const found = words.find((word) => word === given)
  if (found !== undefined) return found
  throw usageError(`"${given}" is no value of ${option}.`, `Write one of ${words.join(', ')}.`)
}

/**
 * The options again, for a command that repeats one request with its fault. A fault that changes the order
 * shows among its neighbours only: then the command repeats the whole rehearsal, on the captures up to its start.
 */
export function repeatWords(
  options: RehearseOptions,
  { requestId, fault }: { readonly requestId: number; readonly fault: string | null },
  made: { readonly seed: number; readonly createdAt: string; readonly select: Terms['select'] },
): string[] {
  const { sign, against, action, ignore = [], expect, stateUrl, faults } = options
  const { request, label, sample, order, speed, perSecond, concurrency } = options
  const { since, until } = made.select.filter ?? {}
  const isWhole = fault === 'reorder' || order === 'shuffled'
  const selected =
    request === undefined
      ? [
          ...(since == null ? [] : [`--since ${since}`]),
          `--until ${until ?? made.createdAt}`,
          ...(label === undefined ? [] : [`--label '${label}'`]),
          ...(sample === undefined ? [] : [`--sample ${sample}`]),
        ]
      : [`--request ${request.join(' ')}`]
  return [
    ...(isWhole
      ? [
          ...selected,
          ...(order === undefined ? [] : [`--order ${order}`]),
          ...(speed === undefined ? [] : [`--speed ${speed}`]),
          ...(perSecond === undefined ? [] : [`--per-second ${perSecond}`]),
          ...(concurrency === undefined ? [] : [`--concurrency ${concurrency}`]),
          ...(faults === undefined ? [] : [`--faults ${faults}`]),
          `--seed ${made.seed}`,
        ]
      : [
          `--request ${requestId}`,
          ...(fault === null || expect !== undefined ? [] : [`--faults ${fault}=1`]),
        ]),
    ...(sign === undefined ? [] : [`--sign ${sign}`]),
    ...(against === undefined ? [] : [`--against ${against}`]),
    ...(action === undefined ? [] : [`--action '${action}'`]),
    ...ignore.map((path) => `--ignore '${path}'`),
    ...(expect === undefined ? [] : [`--expect ${expect}`]),
    ...(stateUrl === undefined ? [] : [`--state-url '${stateUrl}'`]),
  ]
}
