import { useSyncExternalStore } from 'react'
import { Store } from '../store.ts'
import { Button } from './Button.tsx'

/** The area where notes are shown; one per page. */
export function Toasts() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div key={id}>
          <span>{text}</span>
          {action !== undefined && (
            <Button
              look="small"
              onClick={() => {
                close(id)
                action.run()
              }}
            >
              {action.label}
            </Button>
          )}
        </div>
      ))}
    </div>
  )
}

/** A note that disappears after a while, with at most one action. */
interface Toast {
  readonly id: number
  readonly text: string
  readonly action: { readonly label: string; readonly run: () => void } | undefined
}

/** Duration of a note: long enough to undo. */
const TOAST_MS = 8_000

const toasts = new Store<readonly Toast[]>([])

let last = 0

/** Shows a note for {@link TOAST_MS}. @returns a function that removes it */
export function toast(text: string, action?: Toast['action']): () => void {
  const id = ++last
  toasts.set([...toasts.get().slice(-2), { id, text, action }])
  setTimeout(() => close(id), TOAST_MS)
  return () => close(id)
}

const close = (id: number) => toasts.set(toasts.get().filter((one) => one.id !== id))
