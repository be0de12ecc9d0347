import { useSyncExternalStore } from 'react'
import { clock, fullTime } from '../words/format.ts'

/** Longest wait for the next day. A computer that slept is noticed within it. */
const LOOK_MS = 60_000

const today = () => new Date().toDateString()

/** Readers of the day, which share one timer. */
const readers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function everyDay(onChange: () => void): () => void {
  readers.add(onChange)
  timer ??= setInterval(() => {
    for (const read of readers) read()
  }, LOOK_MS)
  return () => {
    readers.delete(onChange)
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The day of this computer; a component that reads it renders again at midnight. */
export function useToday(): string {
  return useSyncExternalStore(everyDay, today)
}

/** A time in a list, with the date unless it is today; the full form is its title. Stays right after midnight. */
export function Clock({ at }: { readonly at: string }) {
  useToday()
  return (
    <time dateTime={at} title={fullTime(at)}>
      {clock(at)}
    </time>
  )
}
