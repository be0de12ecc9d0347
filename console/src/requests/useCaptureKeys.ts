import { useEffect, useRef } from 'react'
import type { CaptureStream } from '../live/captureStream.ts'
import { isFocusLost, useShortcuts } from '../parts/shortcuts.ts'

interface Keys {
  readonly stream: CaptureStream
  readonly selected: number | undefined
  readonly open: (id: number | undefined, replace?: boolean) => void
  readonly pause: () => void
  readonly pick: (id: number) => void
  readonly remove: () => void
  readonly undo: () => void
}

/** The keys of the list: letters anywhere on the screen; arrows and Enter while the list, or nothing, has the focus. */
export function useCaptureKeys(keys: Keys): void {
  const { open, selected, stream } = keys
  const step = (by: number) => {
    const { rows } = stream.get()
    const at = rows.findIndex(({ id }) => id === selected)
    const to = at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))
    const row = rows[to]
    if (row !== undefined) open(row.id, selected !== undefined)
  }
  const first = () => {
    const row = stream.get().rows[0]
    const newer = document.querySelector<HTMLElement>('.newer')
    if (newer === null) document.querySelector('.list')?.scrollTo({ top: 0 })
    else newer.click()
    if (row !== undefined && selected !== undefined) open(row.id, true)
  }
  useShortcuts({
    search: () => document.querySelector<HTMLElement>('#search')?.focus(),
    next: () => step(1),
    previous: () => step(-1),
    newest: first,
    pause: keys.pause,
    close: () => {
      if (selected === undefined) return
      open(undefined)
      document.querySelector<HTMLElement>('.list')?.focus()
    },
    pick: () => {
      if (selected !== undefined) keys.pick(selected)
    },
    remove: keys.remove,
    undo: keys.undo,
  })
  const latest = useRef(step)
  latest.current = step
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const by = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[event.key]
      const { target } = event
      if (by === undefined || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      const isFree = isFocusLost() || (target instanceof Element && target.closest('.list') !== null)
      if (!isFree || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      latest.current(by)
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}
