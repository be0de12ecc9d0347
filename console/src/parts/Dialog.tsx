import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './Button.tsx'

interface Props {
  readonly title: string
  readonly onClose: () => void
  /** Whether the dialog has a close button and Esc closes it. Otherwise its content closes it. */
  readonly isClosable?: boolean
  readonly size?: 'normal' | 'wide'
  readonly children: ReactNode
}

const FIRST_FIELD = '.dialog-body :is(input, textarea, select):not([type="hidden"], :disabled)'

/** A modal dialog, open while it is rendered. It focuses its first field, and restores the focus when it closes. */
export function Dialog({ title, onClose, isClosable = true, size = 'normal', children }: Props) {
  const place = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const before = document.activeElement
    const dialog = place.current
    dialog?.showModal()
    // The browser would focus the first control, the close button.
    const focus = () => dialog?.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
    focus()
    // Content that loads later gets the focus, unless the user has moved it.
    const watching = new MutationObserver(() => {
      if (dialog?.querySelector(FIRST_FIELD) == null) return
      watching.disconnect()
      if (document.activeElement === untouched) focus()
    })
    const untouched = document.activeElement
    if (dialog !== null && dialog.querySelector(FIRST_FIELD) === null)
      watching.observe(dialog, { childList: true, subtree: true })
    return () => {
      watching.disconnect()
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={place}
      className="dialog"
      data-size={size}
      // A browser closes it at the second Esc, whatever the page says to the first.
      {...(!isClosable && { closedby: 'none' })}
      onClose={() => {
        if (isClosable) onClose()
        else place.current?.showModal()
      }}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        if (isClosable) onClose()
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {isClosable && (
          <Button look="quiet icon" onClick={onClose} aria-label="Close" title="Close (Esc)">
            <X size={16} />
          </Button>
        )}
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>
  )
}
