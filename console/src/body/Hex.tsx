import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { LINE_HEIGHT } from './Lines.tsx'

const WIDTH = 16

/** Hex dump: offset, bytes, and their ASCII characters. */
export function Hex({ bytes }: { bytes: Uint8Array }) {
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
