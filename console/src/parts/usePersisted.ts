import { useEffect, useState } from 'react'

/**
 * State that outlives a reload, for what is being typed: kept in this tab under a name.
 *
 * @param name undefined keeps it no longer than it is drawn
 * @returns the state, its setter, and a function that forgets it once it was saved
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

/** Browsers keep some megabytes: what does not fit is not kept, and stays on the page. */
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
