import { Check, Copy } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { toast } from './toasts.ts'

interface Props {
  /** Called when the button is pressed. */
  readonly text: () => string
  readonly label: string
  readonly children?: ReactNode
  readonly className?: string
}

/** Copies a text, and confirms it for two seconds, also to screen readers. */
export function CopyButton({ text, label, children, className = 'button quiet icon' }: Props) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    if (await copyText(text())) setCopied(true)
  }
  return (
    <button
      type="button"
      className={className}
      onClick={() => void copy()}
      aria-label={children === undefined ? label : undefined}
      title={label}
    >
      {isCopied ? <Check size={14} /> : <Copy size={14} />}
      {children}
      <span className="sr-only" aria-live="polite">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}

/** Copies a text to the clipboard. If the browser refuses (plain http on another machine), a note says so. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    toast('Copying needs https in this browser.')
    return false
  }
}
