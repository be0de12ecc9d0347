import { useVirtualizer } from '@tanstack/react-virtual'
import { Download } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CopyButton, download } from '../parts/CopyButton.tsx'
import { Segments } from '../parts/Segments.tsx'
import { useShortcuts } from '../parts/shortcuts.ts'
import { bytesOfBase64 } from '../words/copyAs.ts'
import { bytes, plural } from '../words/format.ts'
import type { Line } from '../words/jsonLines.ts'
import { LINE_HEIGHT, Lines } from './Lines.tsx'
import { type BodySource, layoutOf, type Part, rawLines } from './layout.ts'

type View = 'pretty' | 'raw' | 'hex' | 'preview'

interface Props extends BodySource {
  /** Name of the object that the body belongs to, for titles and file names. */
  readonly name: string
  /** The bytes, if they are loaded; by default they are decoded from `body`. */
  readonly octets?: Uint8Array<ArrayBuffer>
  readonly note?: string | undefined
  /** Whether the key `v` switches between the views of this body. */
  readonly hasKey?: boolean
  readonly pathBar?: (line: Line | null) => ReactNode
}

/** A body: formatted, as text, as hex, or as a preview. */
export function BodyView({ name, note, octets, hasKey = false, pathBar, ...source }: Props) {
  const { body, bodyKind, contentType, isBinary, isTruncated, sizeBytes } = source
  const layout = useMemo(
    () => layoutOf({ body, bodyKind, contentType, isBinary, isTruncated, sizeBytes }),
    [body, bodyKind, contentType, isBinary, isTruncated, sizeBytes],
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
          onChoose={pathBar === undefined ? undefined : (next) => setLine(next.path === '' ? null : next)}
        />
      ) : (
        <Lines label={`Body of ${name}`} lines={rawLines(body)} chosen={null} />
      )}
      {view === 'pretty' && layout.parts === null && pathBar?.(line)}
    </div>
  )
}

const WIDTH = 16

/** Hex dump: offset, bytes, and their ASCII characters. */
function Hex({ bytes }: { bytes: Uint8Array }) {
  const box = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: Math.ceil(bytes.length / WIDTH),
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 30,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must by keyboard
    <section ref={box} className="lines hex" tabIndex={0} aria-label="Bytes of the body">
      <div style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = [...bytes.subarray(index * WIDTH, (index + 1) * WIDTH)]
          return (
            <div key={index} className="line" style={{ transform: `translateY(${start}px)` }}>
              <span className="number">{(index * WIDTH).toString(16).padStart(6, '0')}</span>
              <code className="octets">{octets(row)}</code>
              <code className="glyphs">{row.map(glyph).join('')}</code>
            </div>
          )
        })}
      </div>
    </section>
  )
}

/** The bytes of a row, with a wider gap in the middle. */
function octets(row: readonly number[]): string {
  const all = row.map((byte) => byte.toString(16).padStart(2, '0'))
  return `${all.slice(0, WIDTH / 2).join(' ')}  ${all.slice(WIDTH / 2).join(' ')}`
}

function glyph(byte: number): string {
  return byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·'
}

const PARTS_SHOWN = 300

/** The parts of a multipart body: short texts are shown, others can be saved. */
function Parts({ parts }: { parts: readonly Part[] }) {
  return (
    <ul className="body-parts">
      {parts.slice(0, PARTS_SHOWN).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts may repeat, and never move
        <li key={at}>
          <p>
            <b>{part.name || '(no name)'}</b>
            {part.filename !== null && <code>{part.filename}</code>}
            <span className="hint">
              {part.type ?? 'text'}, {bytes(part.content.length)}
            </span>
            <Button look="small" onClick={() => download(part.content, part.filename ?? part.name)}>
              Save
            </Button>
          </p>
          {part.text !== null && <pre>{part.text}</pre>}
        </li>
      ))}
      {parts.length > PARTS_SHOWN && (
        <li className="hint">and {plural(parts.length - PARTS_SHOWN, 'other')}</li>
      )}
    </ul>
  )
}

interface PreviewProps {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly kind: 'image' | 'html'
}

/** An image from its bytes; HTML in a frame without scripts, styles or network. */
function Preview({ bytes, type, kind }: PreviewProps) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [bytes, type])
  return (
    <div className="body-preview">
      {url !== undefined &&
        (kind === 'image' ? (
          <img src={url} alt="The captured body" />
        ) : (
          <iframe
            src={url}
            sandbox=""
            referrerPolicy="no-referrer"
            title="The captured page, without scripts, styles or network"
          />
        ))}
    </div>
  )
}
