/** Saves bytes as a file; never as something that the browser would open. */
export function download(bytes: Uint8Array<ArrayBuffer> | string, name: string): void {
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
  // Not at once: the browser has yet to begin reading it.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
