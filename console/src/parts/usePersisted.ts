import { useEffect, useState } from 'react'

/**
 * State that outlives a reload, for what is being typed: kept in this tab under a name.
 *
 * @returns the state, its setter, and a function that forgets it once it was saved
 */
export function usePersisted<Value>(
  name: string,
  first: Value | (() => Value),
): [Value, (next: Value | ((before: Value) => Value)) => void, () => void] {
  const key = `draft:${name}`
  const [value, setValue] = useState<Value>(() => read(key, first))
  const [isTouched, setTouched] = useState(() => sessionStorage.getItem(key) !== null)
  useEffect(() => {
    if (isTouched) sessionStorage.setItem(key, JSON.stringify(value))
  }, [key, value, isTouched])
  const set = (next: Value | ((before: Value) => Value)) => {
    setTouched(true)
    setValue(next)
  }
  const forget = () => {
    setTouched(false)
    sessionStorage.removeItem(key)
  }
  return [value, set, forget]
}

function read<Value>(key: string, first: Value | (() => Value)): Value {
  const kept = sessionStorage.getItem(key)
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
