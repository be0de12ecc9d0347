import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { memo, useMemo, useRef, useState } from 'react'
import { plural } from '../words/format.ts'
import type { Line } from '../words/jsonLines.ts'
import { visible } from '../words/visible.ts'

export const LINE_HEIGHT = 20

interface Props {
  readonly label: string
  readonly lines: readonly Line[]
  readonly chosen: string | null
  /** Called when a line was chosen; absent where lines have no paths. */
  readonly onChoose?: ((line: Line) => void) | undefined
}

/** Lines of a body; only those in view are rendered. Objects and lists can be folded. */
export function Lines({ label, lines, chosen, onChoose }: Props) {
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const shown = useMemo(() => {
    const out: number[] = []
    for (let at = 0; at < lines.length; at += 1) {
      out.push(at)
      const opens = lines[at]?.opens
      if (opens !== undefined && folded.has(at)) at = opens.end
    }
    return out
  }, [lines, folded])
  const box = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 30,
    measureElement: (element) => element.getBoundingClientRect().height,
  })
  const fold = (at: number) =>
    setFolded((before) => {
      const after = new Set(before)
      if (!after.delete(at)) after.add(at)
      return after
    })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must by keyboard
    <section ref={box} className="lines" tabIndex={0} aria-label={label}>
      <div style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const at = shown[index] ?? 0
          const line = lines[at]
          if (line === undefined) return null
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the paths of all lines are offered by keyboard where conditions are made
            // biome-ignore lint/a11y/noStaticElementInteractions: as above
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="line"
              style={{ transform: `translateY(${start}px)` }}
              onClick={({ target }) => {
                if (target instanceof Element && target.closest('.fold') === null) onChoose?.(line)
              }}
              data-chosen={onChoose !== undefined && chosen === line.path && hasValue(line)}
            >
              <span className="number" aria-hidden="true">
                {line.number === undefined ? at + 1 : line.number}
              </span>
              {line.opens === undefined ? (
                <span className="fold" />
              ) : (
                <button
                  type="button"
                  className="fold"
                  aria-expanded={!folded.has(at)}
                  aria-label={`Fold ${line.path}`}
                  tabIndex={-1}
                  onClick={() => fold(at)}
                >
                  {folded.has(at) ? <ChevronRight size={12} /> : <ChevronDown size={12} />}
                </button>
              )}
              <Pieces line={line} isFolded={folded.has(at)} />
            </div>
          )
        })}
      </div>
    </section>
  )
}

const hasValue = ({ pieces }: Line) => pieces.some(({ kind }) => kind !== 'mark')

const Pieces = memo(function Pieces({ line, isFolded }: { line: Line; isFolded: boolean }) {
  const { depth, opens, pieces } = line
  return (
    <code style={{ paddingInlineStart: `${depth * 1.4}em` }}>
      {pieces.map(({ kind, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces never move
        <span key={at} className={`piece-${kind === 'colon' ? 'mark' : kind}`}>
          {kind === 'colon' ? ': ' : visible(text)}
        </span>
      ))}
      {isFolded && opens !== undefined && (
        <span className="folded">
          {plural(opens.members, 'member')} {pieces.at(-1)?.text === '{' ? '}' : ']'}
        </span>
      )}
    </code>
  )
})
