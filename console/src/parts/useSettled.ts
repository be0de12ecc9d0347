import { useEffect, useState } from 'react'

const WAIT_MS = 250

/** A text once nobody has changed it for a quarter of a second. */
export function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), WAIT_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
