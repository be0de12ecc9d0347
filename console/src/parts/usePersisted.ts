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

/**
 * State of an input that survives reloads, kept in this tab under a name.
 *
 * @param name undefined keeps it only while it is rendered
 * @returns the state, its setter, and a function that deletes the kept copy after saving
 */
export function usePersisted<Value>(
  name: string | undefined,
  first: Value | (() => Value),
): [Value, (next: Value | ((before: Value) => Value)) => void, () => void] {
  const key = name === undefined ? undefined : `draft:${name}`
  const [value, setValue] = useState<Value>(() => read(key, first))
  const [isTouched, setTouched] = useState(() => key !== undefined && sessionStorage.getItem(key) !== null)
  useEffect(() => {
    if (isTouched && key !== undefined) keep(key, value)
  }, [key, value, isTouched])
  const set = (next: Value | ((before: Value) => Value)) => {
    setTouched(true)
    setValue(next)
  }
  const forget = () => {
    setTouched(false)
    if (key !== undefined) sessionStorage.removeItem(key)
  }
  return [value, set, forget]
}

/** Browsers keep only some megabytes. A value that does not fit is not kept, but stays on the page. */
function keep(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    sessionStorage.removeItem(key)
  }
}

function read<Value>(key: string | undefined, first: Value | (() => Value)): Value {
  const kept = key === undefined ? null : sessionStorage.getItem(key)
  const begin = () => (isMade(first) ? first() : first)
  if (kept === null) return begin()
  try {
    return JSON.parse(kept)
  } catch {
    return begin()
  }
}

function isMade<Value>(first: Value | (() => Value)): first is () => Value {
  return typeof first === 'function'
}
