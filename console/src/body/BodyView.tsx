import { Download } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Segments } from '../parts/Segments.tsx'
import { useShortcuts } from '../shell/shortcuts.ts'
import { bytesOfBase64 } from '../words/copyAs.ts'
import { bytes } from '../words/format.ts'
import { download } from './download.ts'
import { Hex } from './Hex.tsx'
import type { Line } from './jsonLines.ts'
import { Lines } from './Lines.tsx'
import { type BodySource, layoutOf, rawLines } from './layout.ts'
import { Parts } from './Parts.tsx'
import { Preview } from './Preview.tsx'

type View = 'pretty' | 'raw' | 'hex' | 'preview'

interface Props extends BodySource {
  /** Name of the object that the body belongs to, for titles and file names. */
  readonly name: string
  /** The bytes, if they are loaded; by default they are decoded from `body`. */
  readonly octets?: Uint8Array<ArrayBuffer>
  /** A line above the body. */
  readonly note?: string | undefined
  /** Whether the key `v` switches between the views of this body. */
  readonly hasKey?: boolean
  /** Bar of commands for the chosen line. */
  readonly pathBar?: (line: Line | null) => ReactNode
}

/** A body: formatted, as text, as hex, or as a preview. */
export function BodyView({ name, note, octets, hasKey = false, pathBar, ...source }: Props) {
  const { body, contentType, isBinary, isTruncated, sizeBytes } = source
  const layout = useMemo(
    () => layoutOf({ body, contentType, isBinary, isTruncated, sizeBytes }),
    [body, contentType, isBinary, isTruncated, sizeBytes],
  )
  const hasPretty = layout.lines !== null || layout.parts !== null
  const options = [
    { value: 'pretty', words: layout.parts === null ? 'Pretty' : 'Parts', isOff: !hasPretty },
    { value: 'raw', words: 'Raw', isOff: isBinary },
    { value: 'hex', words: 'Hex' },
    ...(layout.preview === null ? [] : [{ value: 'preview' as const, words: 'Preview' }]),
  ] as const
  const [chosenView, setView] = useState<View>()
  const view =
    chosenView ?? (layout.preview === 'image' ? 'preview' : hasPretty ? 'pretty' : isBinary ? 'hex' : 'raw')
  const [line, setLine] = useState<Line | null>(null)
  const raw = useMemo(
    () =>
      octets ??
      (body === null ? new Uint8Array() : isBinary ? bytesOfBase64(body) : new TextEncoder().encode(body)),
    [body, isBinary, octets],
  )
  const nextView = () => {
    const open = options.filter((option) => !('isOff' in option && option.isOff))
    setView(open[(open.findIndex(({ value }) => value === view) + 1) % open.length]?.value)
  }
  useShortcuts(hasKey ? { view: nextView } : {})
  if (body === null) return <p className="hint pad">No body.</p>
  return (
    <div className="body">
      <div className="body-tools">
        <Segments label={`Show ${name} as`} value={view} options={options} onChange={setView} />
        <span className="hint">
          {bytes(sizeBytes)}
          {isTruncated ? ', cut' : ''}
        </span>
        {!(isBinary && body === '') && <CopyButton label="Copy body" text={() => body} />}
        <Button
          look="quiet icon"
          onClick={() => download(raw, `${name}.${layout.extension}`)}
          label="Download body"
        >
          <Download size={14} />
        </Button>
      </div>
      {note !== undefined && <p className="hint pad">{note}</p>}
      {isTruncated && <p className="banner">Truncated: only the beginning of this body is stored.</p>}
      {view === 'preview' && layout.preview !== null ? (
        <Preview bytes={raw} kind={layout.preview} type={contentType ?? ''} />
      ) : view === 'hex' ? (
        <Hex bytes={raw} />
      ) : view === 'pretty' && layout.parts !== null ? (
        <Parts parts={layout.parts} />
      ) : view === 'pretty' && layout.lines !== null ? (
        <Lines
          label={`Body of ${name}`}
          lines={layout.lines}
          chosen={line?.path ?? null}
          onChoose={pathBar === undefined ? undefined : setLine}
        />
      ) : (
        <Lines label={`Body of ${name}`} lines={rawLines(body)} chosen={null} />
      )}
      {view === 'pretty' && layout.parts === null && pathBar?.(line)}
    </div>
  )
}
