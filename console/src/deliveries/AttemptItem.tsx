import { ChevronRight, WandSparkles } from 'lucide-react'
import { memo } from 'react'
import { Clock } from '../parts/Clock.tsx'
import { StateMark } from '../parts/StateMark.tsx'
import type { Attempt } from '../trpc.ts'
import { attemptErrorWords } from '../words/attemptError.ts'
import { duration } from '../words/format.ts'
import { AttemptRecord } from './AttemptRecord.tsx'

/** Trigger of an attempt, if it was not the delivery's schedule. */
const TRIGGER_WORDS: Readonly<Record<string, string>> = {
  replay: 'Replay',
  bulkReplay: 'Bulk replay',
  edited: 'Edited',
  listen: 'Listener',
}

interface Props {
  readonly endpointId: string
  readonly attempt: Attempt
  /** Duration as a share of the longest. */
  readonly share: number
  readonly isOpen: boolean
  readonly onToggle: () => void
  /** Shown next to it in lists with attempts of several requests. */
  readonly about?: string
}

/** One attempt: a line, and below it the request and the response when open. */
export const AttemptItem = memo(function AttemptItem({
  endpointId,
  attempt,
  share,
  isOpen,
  onToggle,
  about,
}: Props) {
  const { at, attemptNumber, durationMs, error, state, statusCode, transformed, trigger } = attempt
  const isBad = statusCode === null ? error !== null : statusCode >= 400
  return (
    <li data-open={isOpen}>
      <button
        type="button"
        className="attempt"
        data-wide={about !== undefined}
        aria-expanded={isOpen}
        onClick={onToggle}
      >
        <ChevronRight size={13} className="turn" />
        <StateMark state={state} isShort />
        <span
          className="attempt-code"
          data-bad={isBad}
          title={error === null ? undefined : attemptErrorWords(error)}
        >
          {statusCode ?? error?.split(':')[0] ?? '…'}
        </span>
        <span className="attempt-number">{TRIGGER_WORDS[trigger] ?? `Attempt ${attemptNumber}`}</span>
        {about !== undefined ? (
          <span className="cut">{about}</span>
        ) : transformed ? (
          <WandSparkles size={12} role="img" aria-label="shaped by rules" />
        ) : (
          <span />
        )}
        <span className="attempt-bar" aria-hidden="true">
          <i style={{ inlineSize: `${Math.max(2, share * 100)}%` }} />
        </span>
        <span className="attempt-time">{duration(durationMs)}</span>
        <Clock at={at} />
      </button>
      {isOpen && <AttemptRecord endpointId={endpointId} attempt={attempt} />}
    </li>
  )
})
