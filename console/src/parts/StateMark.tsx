import type { RequestState } from '@creel/core/engine/words'
import { ShieldAlert, ShieldCheck, ShieldOff, ShieldX } from 'lucide-react'
import type { ReactNode } from 'react'
import type { RequestSummary } from '../trpc.ts'

export const STATE_WORDS: Readonly<Record<RequestState, string>> = {
  Succeeded: 'Delivered',
  Failed: 'Failed, will retry',
  Errored: 'Error, will retry',
  DeadLetter: 'Dead letter',
  Pending: 'Pending',
  Interrupted: 'Interrupted',
  NotAttempted: 'Captured',
  Skipped: 'Skipped',
}

interface Props {
  readonly state: RequestState
  /** Results of the request's actions. The mark is that of the worst, and the words count them. */
  readonly counts?: RequestSummary['deliveryCounts'] | undefined
  readonly isShort?: boolean
}

/** A state as a shape, a colour and a word, so that each alone suffices. */
export function StateMark({ state: latest, counts, isShort = false }: Props) {
  const state = worstState(latest, counts)
  const words = countsText(counts) ?? STATE_WORDS[state]
  return (
    <span className="state" data-state={state} title={words}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        <Shape state={state} />
      </svg>
      <span className={isShort ? 'sr-only' : undefined}>{words}</span>
    </span>
  )
}

/** The state of a request by all of its actions: a success at one does not hide a failure at another. */
export function worstState(latest: RequestState, counts: Props['counts']): RequestState {
  if (counts === undefined) return latest
  if (counts.deadLettered > 0) return 'DeadLetter'
  if (counts.failed > 0) return latest === 'Errored' || latest === 'Interrupted' ? latest : 'Failed'
  if (counts.waiting > 0) return 'Pending'
  return counts.succeeded > 0 ? 'Succeeded' : latest
}

/** Number of deliveries of a request to several actions, or of attempts of one; empty for a single one. */
export function triesText(
  { succeeded, failed, waiting, deadLettered }: RequestSummary['deliveryCounts'],
  attempts: number,
): string {
  const deliveries = succeeded + failed + waiting + deadLettered
  if (deliveries > 1) return `${deliveries} deliveries`
  return attempts > 1 ? `${attempts} attempts` : ''
}

/** Counts the results of several actions; undefined if one action, or none, was tried. */
export function countsText(counts: Props['counts']): string | undefined {
  if (counts === undefined) return undefined
  const { deadLettered, failed, waiting, succeeded } = counts
  if (deadLettered + failed + waiting + succeeded < 2) return undefined
  const parts: [number, string][] = [
    [deadLettered, deadLettered === 1 ? 'dead letter' : 'dead letters'],
    [failed, 'failed'],
    [waiting, 'pending'],
    [succeeded, 'delivered'],
  ]
  return parts.flatMap(([count, words]) => (count > 0 ? [`${count} ${words}`] : [])).join(', ')
}

function Shape({ state }: { state: RequestState }) {
  switch (state) {
    case 'Succeeded':
      return <path d="M2.2 6.4 4.8 9l5-6" className="stroke" />
    case 'Failed':
    case 'Errored':
      return <path d="M9.8 4.2A4.3 4.3 0 1 0 10.3 6M10 1.8v2.6H7.4" className="stroke" />
    case 'DeadLetter':
      return <path d="M3 3l6 6M9 3 3 9" className="stroke heavy" />
    case 'Pending':
      return (
        <>
          <circle cx="6" cy="6" r="4.2" className="stroke faint" />
          <path d="M6 1.8A4.2 4.2 0 0 1 10.2 6" className="stroke spin" />
        </>
      )
    case 'Interrupted':
      return <path d="M6.8 1 3.4 6.6h2.8L5.2 11l3.6-5.6H6z" className="fill" />
    case 'NotAttempted':
      return <circle cx="6" cy="6" r="2.6" className="fill" />
    case 'Skipped':
      return <circle cx="6" cy="6" r="3.2" className="stroke dashed" />
  }
}

const MARKS = {
  verified: ShieldCheck,
  failed: ShieldX,
  unsigned: ShieldOff,
  unverifiable: ShieldAlert,
} as const

export const VERDICT_WORDS = {
  verified: 'Signature verified',
  failed: 'Signature failed',
  unsigned: 'Not signed',
  unverifiable: 'Cannot be verified',
} as const

/** A verdict as a shield; a blank of the same size if nothing was checked. */
export function VerdictMark({
  verification,
  size = 14,
}: {
  verification: RequestSummary['verification']
  size?: number
}) {
  if (verification === null) return <span className="verdict" />
  const { verdict, note } = verification
  const Icon = MARKS[verdict]
  return (
    <span className="verdict" data-verdict={verdict} title={`${VERDICT_WORDS[verdict]}: ${note}`}>
      <Icon size={size} strokeWidth={2} />
      <span className="sr-only">{VERDICT_WORDS[verdict]}</span>
    </span>
  )
}

/** An HTTP method, coloured by kind. */
export function Method({ method }: { method: string }) {
  return (
    <span className="method" data-method={method.toUpperCase()}>
      {method}
    </span>
  )
}

/** A word about the state of a thing, coloured by what it means. */
export function Badge({
  tone,
  children,
}: {
  readonly tone?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  )
}
