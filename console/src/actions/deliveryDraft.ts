import type { Action } from '../trpc.ts'

type Delivery = NonNullable<Action['delivery']>

/** How a destination is treated, while it is written: texts, empty where the installation decides. */
export type DeliveryDraft = ReturnType<typeof draftOfDelivery>

const NONE = 'none'

/** A saved policy, to be changed; null is that of the installation. */
export function draftOfDelivery(delivery: Delivery | null) {
  const { timeoutSeconds, concurrency, rate, order, retry, breaker, gone } = delivery ?? {}
  return {
    timeoutSeconds: textOf(timeoutSeconds),
    concurrency: textOf(concurrency),
    rateCount: textOf(rate?.count),
    ratePerSeconds: textOf(rate?.perSeconds),
    orderBy: order?.by ?? '',
    onDeadLetter: order?.onDeadLetter ?? 'continue',
    // Delays with commas between; `none` is no retry.
    delays: listText(retry?.delays),
    // Statuses with commas between; `none` is no status.
    on: listText(retry?.on),
    failures: textOf(breaker?.failures),
    windowSeconds: textOf(breaker?.windowSeconds),
    probeEverySeconds: textOf(breaker?.probeEverySeconds),
    gone: gone ?? 'end',
  }
}

/** The policy as the API takes it; null where every member is left to the installation. */
export function deliveryOf(draft: DeliveryDraft): Delivery | null {
  const { rateCount, ratePerSeconds, orderBy, onDeadLetter, failures, windowSeconds, probeEverySeconds } =
    draft
  const delays = listOf(draft.delays)
  const on = listOf(draft.on)?.map(statusOf)
  const hasRate = rateCount !== '' || ratePerSeconds !== ''
  const hasBreaker = failures !== '' || windowSeconds !== '' || probeEverySeconds !== ''
  const delivery: Delivery = {
    ...(draft.timeoutSeconds === '' ? {} : { timeoutSeconds: Number(draft.timeoutSeconds) }),
    ...(draft.concurrency === '' ? {} : { concurrency: Number(draft.concurrency) }),
    ...(hasRate ? { rate: { count: Number(rateCount), perSeconds: Number(ratePerSeconds || 1) } } : {}),
    ...(orderBy.trim() === '' ? {} : { order: { by: orderBy.trim(), onDeadLetter } }),
    ...(delays === undefined && on === undefined
      ? {}
      : { retry: { delays: delays ?? null, on: on ?? null } }),
    ...(hasBreaker
      ? {
          breaker: {
            failures: Number(failures),
            windowSeconds: Number(windowSeconds),
            probeEverySeconds: Number(probeEverySeconds),
          },
        }
      : {}),
    ...(draft.gone === 'end' ? {} : { gone: draft.gone }),
  }
  return Object.keys(delivery).length === 0 ? null : delivery
}

const textOf = (value: number | null | undefined): string => (value ?? '').toString()

function listText(items: readonly (string | number)[] | null | undefined): string {
  if (items === null || items === undefined) return ''
  return items.length === 0 ? NONE : items.join(', ')
}

function listOf(text: string): string[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 0) return undefined
  return words.length === 1 && words[0] === NONE ? [] : words
}

/** A word that is no status becomes no number, which the API refuses at its place. */
function statusOf(word: string): number | '3xx' | '4xx' | '5xx' {
  return word === '3xx' || word === '4xx' || word === '5xx' ? word : Number(word)
}
