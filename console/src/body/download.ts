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
