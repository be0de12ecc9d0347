import { useEffect, useState } from 'react'

const WAIT_MS = 250
const DRAFT = 'draft:'

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
 * @returns the state, its setter, a function that deletes the kept copy after saving, and one that takes the kept copy
 *   again, which {@link changeKept} may have changed, and says whether there is one
 */
export function usePersisted<Value>(
  name: string | undefined,
  first: () => Value,
): [Value, (next: Value | ((before: Value) => Value)) => void, () => void, () => boolean] {
  const key = name === undefined ? undefined : `${DRAFT}${name}`
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
  const reread = () => {
    if (key === undefined || sessionStorage.getItem(key) === null) return false
    setValue(read(key, first))
    return true
  }
  return [value, set, forget, reread]
}

/** Keeps an input under a name, for what is rendered next. */
export const keepInput = (name: string, value: unknown): void => keep(`${DRAFT}${name}`, value)

/** Changes a kept input that is not rendered; undefined deletes it. `fit` has its members. */
export function changeKept<Value>(
  name: string,
  fit: Value,
  change: (kept: Value) => Value | undefined,
): void {
  const key = `${DRAFT}${name}`
  if (sessionStorage.getItem(key) === null) return
  const next = change(read(key, () => fit))
  if (next === undefined) sessionStorage.removeItem(key)
  else keep(key, next)
}

/** Browsers keep only some megabytes. A value that does not fit is not kept, but stays on the page. */
function keep(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    sessionStorage.removeItem(key)
  }
}

function read<Value>(key: string | undefined, first: () => Value): Value {
  const kept = key === undefined ? null : sessionStorage.getItem(key)
  if (kept === null) return first()
  try {
    return JSON.parse(JSON.stringify(fitted(JSON.parse(kept), first())))
  } catch {
    return first()
  }
}

/**
 * A kept value in the form of a new one: a later version of the page may have added a member, or changed its type. The
 * items of lists are taken as they are.
 */
function fitted(kept: unknown, first: unknown): unknown {
  if (kept === null || first === null || first === undefined) return kept
  if (typeof kept !== typeof first || Array.isArray(kept) !== Array.isArray(first)) return first
  if (typeof kept !== 'object' || typeof first !== 'object' || Array.isArray(kept)) return kept
  const members = Object.entries(first).map(([name, value]) => [name, fitted(Reflect.get(kept, name), value)])
  return { ...first, ...kept, ...Object.fromEntries(members) }
}

const WORKSPACE = 'workspace'

/** Notes the workspace that this tab shows, and deletes the drafts of the one before. @returns the session */
export function keepDraftsOf<Session extends { readonly workspace: { readonly id: string } }>(
  session: Session,
): Session {
  const now = JSON.stringify(session.workspace.id)
  if ((sessionStorage.getItem(WORKSPACE) ?? now) !== now) forgetDrafts()
  keep(WORKSPACE, session.workspace.id)
  return session
}

/** Deletes all kept drafts. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(DRAFT)) sessionStorage.removeItem(key)
}
