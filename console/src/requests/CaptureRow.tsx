import { StickyNote } from 'lucide-react'
import { memo } from 'react'
import { useToday } from '../parts/Clock.tsx'
import { Method, StateMark, triesText, VerdictMark, worstState } from '../parts/StateMark.tsx'
import type { RequestSummary } from '../trpc.ts'
import { bytes, clock, fullTime, ordinal } from '../words/format.ts'
import { visible } from '../words/visible.ts'

/** In pixels; keep equal to the style sheet. */
export const ROW_HEIGHT = 34

interface Props {
  readonly row: RequestSummary
  /** The beginning of the body. */
  readonly preview: string
  /** Paths whose values are shown. */
  readonly columns: readonly string[]
  /** The day that begins with it in the list. */
  readonly day: string | undefined
  /** 1-based place in the list. */
  readonly at: number
  readonly isSelected: boolean
  readonly isPicked: boolean
  readonly isNew: boolean
  readonly onOpen: (id: number) => void
  readonly onPick: (id: number, isRange: boolean) => void
}

export const CaptureRow = memo(function CaptureRow({
  row,
  preview,
  columns,
  day,
  at,
  isSelected,
  isPicked,
  isNew,
  onOpen,
  onPick,
}: Props) {
  const {
    attemptCount,
    columns: values,
    deliveryCounts,
    duplicateOf,
    id,
    label,
    senderAttempt,
    method,
    note,
    path,
    receivedAt,
    sizeBytes,
    state,
    verification,
  } = row
  useToday()
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the whole list are those of the screen
    <div
      className="row"
      role="row"
      tabIndex={-1}
      aria-rowindex={at}
      aria-selected={isSelected}
      data-picked={isPicked}
      data-new={isNew}
      data-day={day}
      onClick={(event) => {
        if (event.shiftKey || event.metaKey || event.ctrlKey) onPick(id, event.shiftKey)
        else onOpen(id)
      }}
    >
      <span role="gridcell" className="cell-state">
        <StateMark state={state} counts={deliveryCounts} isShort />
        {isPicked && <span className="sr-only">, selected</span>}
      </span>
      <span role="gridcell" className="cell-id">
        #{id}
      </span>
      <span role="gridcell" className="cell-method">
        <Method method={method} />
      </span>
      <span role="gridcell" className="cell-what">
        {label !== null && <b>{visible(label)}</b>}
        {senderAttempt !== null && senderAttempt > 1 && (
          <span className="again" title="The sender sent this event before">
            {ordinal(senderAttempt)}
          </span>
        )}
        {duplicateOf !== null && (
          <span className="again" title={`A duplicate of request #${duplicateOf}`}>
            duplicate
          </span>
        )}
        <span className="path">{path === '' ? (label === null ? '/' : '') : visible(path)}</span>
        {note !== null && (
          <span className="row-note" title={visible(note)}>
            <StickyNote size={12} aria-label="Note:" /> {visible(note)}
          </span>
        )}
        {columns.map((path) => (
          <span key={path} className="column" title={path}>
            {visible(values[path] ?? '')}
          </span>
        ))}
        <span className="preview">{preview}</span>
      </span>
      <span
        role="gridcell"
        className="cell-tries"
        data-trouble={worstState(state, deliveryCounts) !== 'Succeeded'}
      >
        {triesText(deliveryCounts, attemptCount)}
      </span>
      <span role="gridcell" className="cell-verdict">
        <VerdictMark verification={verification} />
      </span>
      <span role="gridcell" className="cell-size">
        {sizeBytes === 0 ? '' : bytes(sizeBytes)}
      </span>
      <time
        role="gridcell"
        className="cell-time"
        dateTime={receivedAt}
        onPointerEnter={(event) => {
          event.currentTarget.title = fullTime(receivedAt)
        }}
      >
        {clock(receivedAt)}
      </time>
    </div>
  )
})
