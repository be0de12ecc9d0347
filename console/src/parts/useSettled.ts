import { useEffect, useState } from 'react'

const WAIT_MS = 250

/** Debounces a text: returns it after a quarter of a second without changes. */
export function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), WAIT_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
