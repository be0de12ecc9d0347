import { StickyNote } from 'lucide-react'
import { memo } from 'react'
import { useToday } from '../parts/Clock.tsx'
import { Method, StateMark, triesText, VerdictMark, worstState } from '../parts/StateMark.tsx'
import type { RequestSummary } from '../trpc.ts'
import { bytes, clock, fullTime, ordinal } from '../words/format.ts'
import { visible } from '../words/visible.ts'

/** In pixels; keep equal to the style sheet. */
export const ROW_HEIGHT = 34

/** Id of the element of a row. */
export const rowId = (id: number | undefined) => `row-${id}`

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
  useToday()
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the whole list are those of the screen
    <div
      id={rowId(row.id)}
      className="row"
      role="row"
      tabIndex={-1}
      aria-rowindex={at}
      aria-selected={isSelected}
      data-picked={isPicked}
      data-new={isNew}
      data-day={day}
      onClick={(event) => {
        if (event.shiftKey || event.metaKey || event.ctrlKey) onPick(row.id, event.shiftKey)
        else onOpen(row.id)
      }}
    >
      <span role="gridcell" className="cell-state">
        <StateMark state={row.state} counts={row.deliveryCounts} isShort />
        {isPicked && <span className="sr-only">, selected</span>}
      </span>
      <span role="gridcell" className="cell-id">
        #{row.id}
      </span>
      <span role="gridcell" className="cell-method">
        <Method method={row.method} />
      </span>
      <span role="gridcell" className="cell-what">
        {row.label !== null && <b>{visible(row.label)}</b>}
        {row.senderAttempt !== null && row.senderAttempt > 1 && (
          <span className="again" title="The sender sent this event before">
            {ordinal(row.senderAttempt)}
          </span>
        )}
        {row.duplicateOf !== null && (
          <span className="again" title={`A duplicate of request #${row.duplicateOf}`}>
            duplicate
          </span>
        )}
        <span className="path">{row.path === '' ? (row.label === null ? '/' : '') : visible(row.path)}</span>
        {row.note !== null && (
          <span className="row-note" title={visible(row.note)}>
            <StickyNote size={12} aria-label="Note:" /> {visible(row.note)}
          </span>
        )}
        {columns.map((path) => (
          <span key={path} className="column" title={path}>
            {visible(row.columns[path] ?? '')}
          </span>
        ))}
        <span className="preview">{preview}</span>
      </span>
      <span
        role="gridcell"
        className="cell-tries"
        data-trouble={worstState(row.state, row.deliveryCounts) !== 'Succeeded'}
      >
        {triesText(row.deliveryCounts, row.attemptCount)}
      </span>
      <span role="gridcell" className="cell-verdict">
        <VerdictMark verification={row.verification} />
      </span>
      <span role="gridcell" className="cell-size">
        {row.sizeBytes === 0 ? '' : bytes(row.sizeBytes)}
      </span>
      <time
        role="gridcell"
        className="cell-time"
        dateTime={row.receivedAt}
        onPointerEnter={(event) => {
          event.currentTarget.title = fullTime(row.receivedAt)
        }}
      >
        {clock(row.receivedAt)}
      </time>
    </div>
  )
})
