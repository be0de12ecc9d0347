import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { CaptureStream } from '../live/captureStream.ts'
import type { Chosen } from '../parts/BulkBar.tsx'
import type { Filters } from '../words/grammar.ts'

/** Captures selected for a bulk operation. */
export type Selection = ReturnType<typeof useSelection>

/** The selection of a list. It is apart from its bar, which is loaded once something is selected. */
export function useSelection(stream: CaptureStream) {
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const [isAll, setAll] = useState(false)
  const last = useRef<number | undefined>(undefined)
  const clear = useCallback(() => {
    setAll(false)
    setPicked(new Set())
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is what clears it
  useEffect(clear, [stream, clear])
  /** Selects all captures that match, also those that are not loaded, until single ones are selected again. */
  const pickAll = useCallback(() => setAll(true), [])
  /** Selects or deselects one. */
  const toggle = useCallback((id: number) => {
    last.current = id
    setAll(false)
    setPicked((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  }, [])
  /** Selects one; with `isRange` all from the last selected one to this. */
  const pick = useCallback(
    (id: number, isRange: boolean) => {
      const from = last.current
      if (!isRange || from === undefined) return toggle(id)
      const [low, high] = from < id ? [from, id] : [id, from]
      const between = stream.get().rows.filter((row) => row.id >= low && row.id <= high)
      last.current = id
      setAll(false)
      setPicked((before) => new Set([...before, ...between.map((row) => row.id)]))
    },
    [stream, toggle],
  )
  /** The selected requests. All that match are those of the list, without those that a paused list holds back. */
  const chosen = useCallback(
    (filters: Filters): Chosen => {
      const { rows, totalCount } = stream.get()
      const beforeId = rows[0] && rows[0].id + 1
      return isAll ? { filters, about: totalCount, beforeId } : { ids: [...picked] }
    },
    [stream, isAll, picked],
  )
  return useMemo(
    () => ({ picked, isAll, chosen, pick, pickAll, toggle, clear }),
    [picked, isAll, chosen, pick, pickAll, toggle, clear],
  )
}
