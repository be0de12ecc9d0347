import { useSyncExternalStore } from 'react'
import { Button } from './Button.tsx'
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
            <Button look="small" onClick={action.run}>
              {action.label}
            </Button>
          )}
        </div>
      ))}
    </div>
  )
}
