import { useQuery } from '@tanstack/react-query'
import { ChevronRight, WandSparkles } from 'lucide-react'
import { memo } from 'react'
import { asRead } from '../body/asRead.ts'
import { BodyView } from '../body/BodyView.tsx'
import { Clock } from '../parts/Clock.tsx'
import { QueryState } from '../parts/Problem.tsx'
import { StateMark } from '../parts/StateMark.tsx'
import { type Attempt, type AttemptDetail, creel } from '../trpc.ts'
import { attemptErrorWords } from '../words/attemptError.ts'
import { duration, plural } from '../words/format.ts'
import { visible } from '../words/visible.ts'

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
  /** Whether the list has attempts of several requests, which are named. */
  readonly isNamed?: boolean
}

/** One attempt: a line, and below it the request and the response when open. */
export const AttemptItem = memo(function AttemptItem({
  endpointId,
  attempt,
  share,
  isOpen,
  onToggle,
  isNamed = false,
}: Props) {
  const isBad = attempt.statusCode === null ? attempt.error !== null : attempt.statusCode >= 400
  return (
    <li data-open={isOpen}>
      <button type="button" className="attempt" data-wide={isNamed} aria-expanded={isOpen} onClick={onToggle}>
        <ChevronRight size={13} className="turn" />
        <StateMark state={attempt.state} isShort />
        <span
          className="attempt-code"
          data-bad={isBad}
          title={attempt.error === null ? undefined : attemptErrorWords(attempt.error)}
        >
          {attempt.statusCode ?? attempt.error?.split(':')[0] ?? '…'}
        </span>
        <span className="attempt-number">
          {TRIGGER_WORDS[attempt.trigger] ?? `Attempt ${attempt.attemptNumber}`}
        </span>
        {isNamed ? (
          <span className="attempt-about">
            <span className="hint">#{attempt.requestId}</span>{' '}
            {attempt.label !== null && <b>{visible(attempt.label)}</b>} {attempt.actionName}
          </span>
        ) : attempt.transformed ? (
          <WandSparkles size={12} role="img" aria-label="shaped by rules" />
        ) : (
          <span />
        )}
        <span className="attempt-bar" aria-hidden="true">
          <i style={{ inlineSize: `${Math.max(2, share * 100)}%` }} />
        </span>
        <span className="attempt-time">{duration(attempt.durationMs)}</span>
        <Clock at={attempt.at} />
      </button>
      {isOpen && <AttemptRecord endpointId={endpointId} attempt={attempt} />}
    </li>
  )
})

/** The exact request and response of an attempt, while they are stored. */
function AttemptRecord({ endpointId, attempt }: { endpointId: string; attempt: Attempt }) {
  const detail = useQuery({
    queryKey: ['attempt', endpointId, attempt.id, attempt.state],
    queryFn: () => creel.deliveries.get.query({ endpointId, attemptId: attempt.id }),
  })
  if (detail.data === undefined) {
    return (
      <div className="record">
        <QueryState of={detail} />
      </div>
    )
  }
  const { error, received, sent, transformNote } = detail.data
  return (
    <div className="record">
      {(error !== null || transformNote !== null) && (
        <p className="record-note">
          {error !== null && <span className="bad">{attemptErrorWords(error)}</span>} {transformNote}
        </p>
      )}
      <Side
        title="Sent"
        first={sent === null ? 'The record is no longer stored.' : `${sent.method} ${sent.url}`}
        part={sent}
      />
      <Side
        title="Received"
        first={
          received === null
            ? attempt.state === 'Pending'
              ? 'Sending…'
              : 'No answer.'
            : `HTTP ${received.statusCode}`
        }
        part={received}
      />
    </div>
  )
}

interface SideProps {
  readonly title: 'Sent' | 'Received'
  readonly first: string
  readonly part: AttemptDetail['sent'] | AttemptDetail['received']
}

function Side({ title, first, part }: SideProps) {
  return (
    <section aria-label={title}>
      <h4>{title}</h4>
      <p className="first-line">
        <code>{first}</code>
      </p>
      {part !== null && (
        <>
          <details>
            <summary>{plural(Object.keys(part.headers).length, 'header')}</summary>
            <dl>
              {Object.entries(part.headers).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
          <BodyView
            {...asRead(part)}
            isTruncated={part.bodyTruncated}
            contentType={'contentType' in part ? part.contentType : contentTypeOf(part.headers)}
            sizeBytes={sizeOf(part)}
            name={title.toLowerCase()}
          />
        </>
      )}
    </section>
  )
}

function contentTypeOf(headers: Readonly<Record<string, string>>): string | null {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null
}

function sizeOf({ body, bodyIsBinary }: { body: string | null; bodyIsBinary: boolean }): number {
  if (body === null) return 0
  return bodyIsBinary ? atob(body).length : new TextEncoder().encode(body).length
}
