import { useSyncExternalStore } from 'react'
import { toasts } from './toasts.ts'

/** The area where notes are shown; one per page. */
export function Toasts() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div key={id}>
          <span>{text}</span>
          {action !== undefined && (
            <button type="button" className="button small" onClick={action.run}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
