import { Check, Copy } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { toast } from './Toasts.tsx'

interface Props {
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

/** A command for a shell, or another line to copy. */
export function CommandLine({ line, label = 'Copy the command' }: { line: string; label?: string }) {
  return (
    <div className="command">
      <code>{line}</code>
      <CopyButton label={label} text={() => line} />
    </div>
  )
}

/** Saves bytes as a file. The type prevents the browser from opening it. */
export function download(bytes: Uint8Array<ArrayBuffer> | string, name: string): void {
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
  // Delayed, because the browser has not begun to read the URL.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
